"""The command line: parse the arguments, call an operation, print the result."""
