"""Packages of unknown publishers, and names that imitate well-known ones; the guard works without this folder."""
