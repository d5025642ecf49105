"""Git commands that throw away uncommitted work, and whose work that is; the guard works without this folder."""
