"""Secrets out of the results of tools: a placeholder for each, in the client's own form of a result."""
