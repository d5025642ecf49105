"""The HTTP endpoint, for clients that cannot start a program."""
