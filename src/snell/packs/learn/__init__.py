"""A report of what happened in a session, from what was recorded, so that the next one can do better."""
