"""The reader of command lines, and what commands do."""
