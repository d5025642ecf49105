"""Replication of decisions, work, agents and memories to a shared server."""
