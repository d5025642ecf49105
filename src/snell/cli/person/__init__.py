"""Decide whether a person runs this command: by its ancestors, by a typed challenge, or by a one-time code."""
