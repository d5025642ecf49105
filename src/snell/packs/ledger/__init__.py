"""The ledger: every tool call once, and no side effect twice."""
