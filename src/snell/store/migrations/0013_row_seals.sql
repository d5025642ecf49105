-- only sqlite
-- A MAC over the values of a row, with a key that is not in the database; empty in rows of earlier versions until they
-- are sealed. `records/row_seals.py` has the triggers that write it.
ALTER TABLE decisions ADD COLUMN seal BLOB NOT NULL DEFAULT x'';
ALTER TABLE traces ADD COLUMN seal BLOB NOT NULL DEFAULT x'';
ALTER TABLE tool_calls ADD COLUMN seal BLOB NOT NULL DEFAULT x'';
ALTER TABLE tool_claims ADD COLUMN seal BLOB NOT NULL DEFAULT x'';
ALTER TABLE tool_receipts ADD COLUMN seal BLOB NOT NULL DEFAULT x'';
ALTER TABLE runs ADD COLUMN seal BLOB NOT NULL DEFAULT x'';
ALTER TABLE run_steps ADD COLUMN seal BLOB NOT NULL DEFAULT x'';
ALTER TABLE checkpoints ADD COLUMN seal BLOB NOT NULL DEFAULT x'';
ALTER TABLE run_replays ADD COLUMN seal BLOB NOT NULL DEFAULT x'';
ALTER TABLE meta ADD COLUMN seal BLOB NOT NULL DEFAULT x'';
ALTER TABLE memories ADD COLUMN seal BLOB NOT NULL DEFAULT x'';
ALTER TABLE memory_keys ADD COLUMN seal BLOB NOT NULL DEFAULT x'';

-- Of a table whose rows are not in the audit chain: how many there are, and the sum of their seals.
CREATE TABLE row_tallies (
  name TEXT PRIMARY KEY,
  tally BLOB NOT NULL DEFAULT x''
);
-- end
