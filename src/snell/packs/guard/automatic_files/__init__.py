"""Files that run by themselves: what a change of such a file would run, and when; the guard works without this folder."""
