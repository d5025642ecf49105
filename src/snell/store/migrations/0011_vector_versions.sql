-- How a memory's offline vector was made: when a newer Snell makes better ones, those that are behind can be found.
ALTER TABLE memories ADD COLUMN vector_make TEXT NOT NULL DEFAULT 'static-1';
CREATE INDEX memories_by_vector_make ON memories (vector_make);
