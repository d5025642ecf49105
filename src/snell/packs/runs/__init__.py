"""Runs: budgets, cancelling, waiting for a person, and calls that have to be made again."""
