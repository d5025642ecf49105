"""The reader of command lines, and what commands read, write and send."""
