"""Agents that work in parallel: the status of each, and which need attention."""
