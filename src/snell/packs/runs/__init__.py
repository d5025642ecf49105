"""Runs: budgets, cancellation, waiting for a person, and calls that have to be repeated."""
