-- The same command line in another directory is another call; empty where the directory plays no part.
ALTER TABLE tool_claims ADD COLUMN place TEXT NOT NULL DEFAULT '';
