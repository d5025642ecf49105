"""Tasks, efforts and sessions: work that survives a full context window."""
