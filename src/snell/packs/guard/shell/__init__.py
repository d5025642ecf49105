"""A tree of what a command line does, and a walk through it that runs nothing."""
