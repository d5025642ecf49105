"""Usage: stop or ask when a session has used its tokens."""
