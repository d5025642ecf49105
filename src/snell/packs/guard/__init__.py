"""The guard: what a command would do, judged before it does it."""
