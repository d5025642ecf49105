"""Records of what happened: decisions, the ledger of tool calls, the audit chain, retention."""
