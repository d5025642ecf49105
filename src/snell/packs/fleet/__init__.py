"""Agents that work beside each other: how each is doing, and who should look."""
