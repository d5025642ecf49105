-- only sqlite
-- Sums of the calls that are settled, up to a revision, so that statistics over all calls read only what is newer.
CREATE TABLE call_totals (
  raw_tool_name TEXT PRIMARY KEY,
  calls INTEGER NOT NULL,
  failed INTEGER NOT NULL,
  denied INTEGER NOT NULL,
  total_ms INTEGER NOT NULL,
  longest_ms INTEGER NOT NULL,
  up_to INTEGER NOT NULL
);
CREATE INDEX tool_calls_abandoned ON tool_calls (revision) WHERE status = 'abandoned_on_resume';
-- The sums cannot be reduced without the deleted rows, so the next reader makes them again.
CREATE TRIGGER tool_calls_deleted AFTER DELETE ON tool_calls BEGIN DELETE FROM call_totals; END;
-- end
