-- A call is asked for by the number that its client gave it, which stands behind the name of its session.
-- only sqlite
CREATE INDEX tool_calls_by_number ON tool_calls (substr(tool_call_id, instr(tool_call_id, '/') + 1));
-- end
-- only postgres
CREATE INDEX tool_calls_by_number ON tool_calls ((substr(tool_call_id, strpos(tool_call_id, '/') + 1) COLLATE "C"));
-- end

-- Receipts are few and found by their call; the client waits while one is written.
DROP INDEX tool_receipts_of_run;
