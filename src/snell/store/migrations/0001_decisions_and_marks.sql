-- One statement ends with a semicolon at the end of a line. Between `-- only NAME` and `-- end` stands what one
-- dialect alone understands. Times are milliseconds since 1970, flags are 0 or 1, JSON is text.

CREATE TABLE meta (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
);

CREATE TABLE marks (
  scope TEXT NOT NULL,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  updated_at BIGINT NOT NULL,
  PRIMARY KEY (scope, name)
)
-- only sqlite
WITHOUT ROWID
-- end
;

-- The small row of an event, written before its answer leaves: ids, verdict and hashes, no free text.
CREATE TABLE decisions (
-- only sqlite
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
-- end
-- only postgres
  seq BIGINT GENERATED ALWAYS AS IDENTITY UNIQUE,
  id TEXT COLLATE "C" PRIMARY KEY,
-- end
  at BIGINT NOT NULL,
  session_id TEXT NOT NULL,
  client TEXT NOT NULL,
  event TEXT NOT NULL,
  tool TEXT NOT NULL,
  tool_use_id TEXT NOT NULL,
  request_key TEXT NOT NULL,
  verdict TEXT NOT NULL,
  ms DOUBLE PRECISION NOT NULL,
  rewritten INTEGER NOT NULL,
  failures INTEGER NOT NULL,
  payload_hash TEXT NOT NULL,
  reply_hash TEXT NOT NULL
);

CREATE INDEX decisions_of_session ON decisions (session_id, seq);

-- A delivery without a key cannot be recognised again, so it takes no room here.
CREATE INDEX decisions_of_delivery ON decisions (request_key) WHERE request_key <> '';

-- What can be told about a decision, redacted. A trace gets a new number when something late is added to it.
CREATE TABLE traces (
-- only sqlite
  seq INTEGER PRIMARY KEY,
  decision_id TEXT NOT NULL UNIQUE REFERENCES decisions (id) ON DELETE CASCADE,
-- end
-- only postgres
  seq BIGINT NOT NULL,
  decision_id TEXT COLLATE "C" PRIMARY KEY REFERENCES decisions (id) ON DELETE CASCADE,
-- end
  body TEXT NOT NULL,
  late TEXT NOT NULL
);

-- only postgres
CREATE INDEX traces_in_order ON traces (seq);
-- end
