-- How often a call was tried before is asked for every call; those that did not fail need not be looked through.
CREATE INDEX tool_calls_failed ON tool_calls (idempotency_key) WHERE status IN ('failed', 'abandoned_on_resume');
