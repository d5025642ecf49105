-- The ledger: one row per tool call, with its input and output, its run, and the audit chain that reveals changes.

CREATE TABLE tool_calls (
  tool_call_id TEXT PRIMARY KEY,
  run_id TEXT NOT NULL,
  step_id TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  raw_tool_name TEXT NOT NULL,
  tool_name TEXT NOT NULL,
  tool_namespace TEXT NOT NULL,
  side_effect_class TEXT NOT NULL,
  replay_policy TEXT NOT NULL DEFAULT 'REPLAY_EXACT',
  replay_status TEXT NOT NULL,
  policy_matched INTEGER NOT NULL,
  policy_rule_id TEXT NOT NULL,
  normalized_args_hash TEXT NOT NULL,
  idempotency_key TEXT NOT NULL,
  status TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  request_ref TEXT NOT NULL,
  response_ref TEXT NOT NULL,
  external_correlation_id TEXT NOT NULL,
  error_code TEXT NOT NULL,
  error_detail TEXT NOT NULL,
  session_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  client TEXT NOT NULL,
  effort TEXT NOT NULL,
  decision_id TEXT NOT NULL,
  started_at BIGINT NOT NULL,
  finished_at BIGINT NOT NULL,
  duration_ms BIGINT NOT NULL,
  intent TEXT NOT NULL,
  confirmed TEXT NOT NULL,
  -- Grows with every change of any row: what the chain has not seen yet comes after what it has.
  revision BIGINT NOT NULL
);

CREATE INDEX tool_calls_by_key ON tool_calls (idempotency_key);

CREATE INDEX tool_calls_of_session ON tool_calls (session_id, created_at, tool_call_id);

CREATE INDEX tool_calls_of_run ON tool_calls (run_id, created_at, tool_call_id);

CREATE INDEX tool_calls_in_order ON tool_calls (revision);

CREATE INDEX tool_calls_by_time ON tool_calls (created_at, tool_call_id);

-- Calls that have not ended are few, however many there are.
CREATE INDEX tool_calls_open ON tool_calls (run_id) WHERE status IN ('prepared', 'running');

-- Which call holds a key, so that the same call is not made again. In durable mode this row is committed before the
-- reply; it is small, and one tree, because the client waits for it.
CREATE TABLE tool_claims (
  run_id TEXT NOT NULL,
  idempotency_key TEXT NOT NULL,
  tool_call_id TEXT NOT NULL,
  tool TEXT NOT NULL,
  decision_id TEXT NOT NULL,
  at BIGINT NOT NULL,
  status TEXT NOT NULL,
  preview TEXT NOT NULL,
  PRIMARY KEY (run_id, idempotency_key)
)
-- only sqlite
WITHOUT ROWID
-- end
;

-- What a tool brought, from its success until its call is settled.
CREATE TABLE tool_receipts (
  tool_call_id TEXT PRIMARY KEY,
  run_id TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  status TEXT NOT NULL,
  body TEXT NOT NULL
);

CREATE INDEX tool_receipts_of_run ON tool_receipts (run_id);

-- Inputs and outputs, redacted, by the hash of what is kept; the same text is kept once.
CREATE TABLE tool_bodies (
  ref TEXT PRIMARY KEY,
  created_at BIGINT NOT NULL,
  size BIGINT NOT NULL,
  body TEXT NOT NULL
)
-- only sqlite
WITHOUT ROWID
-- end
;

CREATE INDEX tool_bodies_by_time ON tool_bodies (created_at);

CREATE TABLE runs (
  run_id TEXT PRIMARY KEY,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  status TEXT NOT NULL,
  run_spec TEXT NOT NULL,
  mode TEXT NOT NULL,
  parent_run_id TEXT NOT NULL,
  session_id TEXT NOT NULL,
  provider_session_id TEXT NOT NULL,
  lease_owner TEXT NOT NULL,
  lease_expires_at BIGINT NOT NULL,
  heartbeat_at BIGINT NOT NULL,
  cancel_requested_at BIGINT NOT NULL,
  cancel_reason TEXT NOT NULL,
  waiting_for TEXT NOT NULL,
  iteration_count INTEGER NOT NULL,
  max_iterations INTEGER NOT NULL,
  completion_promise TEXT NOT NULL,
  max_minutes INTEGER NOT NULL,
  max_steps INTEGER NOT NULL,
  max_calls INTEGER NOT NULL,
  steps INTEGER NOT NULL,
  calls INTEGER NOT NULL,
  finished_at BIGINT NOT NULL
);

CREATE INDEX runs_by_time ON runs (created_at, run_id);

CREATE TABLE run_steps (
  step_id TEXT PRIMARY KEY,
  run_id TEXT NOT NULL,
  step_index INTEGER NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  status TEXT NOT NULL,
  phase TEXT NOT NULL,
  error TEXT NOT NULL,
  UNIQUE (run_id, step_index)
);

CREATE TABLE checkpoints (
  run_id TEXT NOT NULL,
  step_id TEXT NOT NULL,
  checkpoint_type TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  snapshot TEXT NOT NULL,
  replay_cursor TEXT NOT NULL,
  PRIMARY KEY (run_id, step_id, checkpoint_type)
);

-- Calls that have to be made again before anything else of their run.
CREATE TABLE run_replays (
  run_id TEXT NOT NULL,
  tool_call_id TEXT NOT NULL,
  position INTEGER NOT NULL,
  raw_tool_name TEXT NOT NULL,
  normalized_args_hash TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  status TEXT NOT NULL,
  PRIMARY KEY (run_id, tool_call_id)
);

-- One row for each thing that was seen to be as it is; each link is made with a key from all that came before it.
CREATE TABLE audit_chain (
  seq BIGINT PRIMARY KEY,
  kind TEXT NOT NULL,
  record_id TEXT NOT NULL,
  digest TEXT NOT NULL,
  link TEXT NOT NULL
);

CREATE INDEX audit_chain_of_record ON audit_chain (record_id, kind);
