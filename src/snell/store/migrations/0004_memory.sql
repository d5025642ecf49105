-- What agents remember. `vector` is the offline one, 256 signed bytes, and `signature` the signs of it, for a first
-- look at all of them; `dense` is what a model made, where one is configured. A text is once in a project.
CREATE TABLE memories (
-- only sqlite
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  vector BLOB NOT NULL,
  signature BLOB NOT NULL,
  dense BLOB,
  dense_signature BLOB,
-- end
-- only postgres
  seq BIGINT GENERATED ALWAYS AS IDENTITY UNIQUE,
  id TEXT COLLATE "C" PRIMARY KEY,
  vector BYTEA NOT NULL,
  signature BYTEA NOT NULL,
  dense BYTEA,
  dense_signature BYTEA,
-- end
  dense_model TEXT NOT NULL,
  project TEXT NOT NULL,
  namespace TEXT NOT NULL,
  content TEXT NOT NULL,
  content_hash TEXT NOT NULL,
  tags TEXT NOT NULL,
  metadata TEXT NOT NULL,
  importance DOUBLE PRECISION NOT NULL,
  source TEXT NOT NULL,
  agent TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  accessed_at BIGINT NOT NULL,
  accesses INTEGER NOT NULL,
  UNIQUE (project, content_hash)
);

CREATE INDEX memories_of_namespace ON memories (project, namespace, seq);

-- What a caller must be able to send twice.
CREATE TABLE memory_keys (
  project TEXT NOT NULL,
  key TEXT NOT NULL,
  memory_id TEXT NOT NULL,
  PRIMARY KEY (project, key)
);

CREATE INDEX memory_keys_of_memory ON memory_keys (memory_id);

-- The words, for full-text search: those of the text, their stems and the parts of its identifiers.
-- only sqlite
CREATE VIRTUAL TABLE memory_words USING fts5 (
  words, content = '', contentless_delete = 1, tokenize = "unicode61 remove_diacritics 2 tokenchars '_'"
);
-- end
-- only postgres
CREATE TABLE memory_words (
  seq BIGINT PRIMARY KEY REFERENCES memories (seq) ON DELETE CASCADE,
  words TSVECTOR NOT NULL
);
CREATE INDEX memory_words_by_word ON memory_words USING GIN (words);
-- end
