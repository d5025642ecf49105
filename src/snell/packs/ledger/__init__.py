"""The ledger: every tool call is recorded once, and no side effect happens twice."""
