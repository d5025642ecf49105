-- Memories of a team that were deleted, until every machine has deleted them.
CREATE TABLE memory_forgotten (
-- only sqlite
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
-- end
-- only postgres
  seq BIGINT GENERATED ALWAYS AS IDENTITY UNIQUE,
-- end
  project TEXT NOT NULL,
  content_hash TEXT NOT NULL,
  UNIQUE (project, content_hash)
);

-- only sqlite
-- Only while memories are shared, and not for a deletion that came from another machine.
CREATE TRIGGER memories_forgotten AFTER DELETE ON memories WHEN OLD.project <> '' AND OLD.project NOT LIKE '/%' AND (SELECT value FROM meta WHERE name = 'memory_shared') = 'yes' BEGIN INSERT INTO memory_forgotten (project, content_hash) VALUES (OLD.project, OLD.content_hash) ON CONFLICT DO NOTHING; END;
-- end
