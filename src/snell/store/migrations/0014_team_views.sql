-- On a server that a team shares: which machine sent a row, and views for people who read it with SQL.
-- only postgres
ALTER TABLE decisions ADD COLUMN host TEXT NOT NULL DEFAULT COALESCE(current_setting('snell.host', true), '');
ALTER TABLE tool_calls ADD COLUMN host TEXT NOT NULL DEFAULT COALESCE(current_setting('snell.host', true), '');

CREATE VIEW team_decisions AS SELECT to_timestamp(d.at / 1000.0) AS time, d.host, d.client, d.session_id, d.event, d.tool, d.verdict, CASE WHEN t.body <> '' THEN t.body::json ->> 'reason' END AS reason, CASE WHEN t.body <> '' THEN (t.body::json -> 'value')::text END AS call, CASE WHEN t.body <> '' THEN t.body::json ->> 'cwd' END AS folder, d.ms, d.failures, d.id FROM decisions d LEFT JOIN traces t ON t.decision_id = d.id;

CREATE VIEW team_calls AS SELECT to_timestamp(created_at / 1000.0) AS time, host, client, session_id, raw_tool_name AS tool, status, duration_ms, side_effect_class, error_code, error_detail, effort, agent_id, decision_id, tool_call_id FROM tool_calls;
-- end
