"""Files that run by themselves: what a change would run, and when; the guard works without this folder."""
