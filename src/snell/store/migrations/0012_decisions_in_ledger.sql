-- 1: the ledger keeps this call, so `tool_calls` has a row for it, or will have.
ALTER TABLE decisions ADD COLUMN in_ledger INTEGER NOT NULL DEFAULT 0;
