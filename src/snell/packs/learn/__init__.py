"""A report of what happened in a session, from the recorded decisions."""
