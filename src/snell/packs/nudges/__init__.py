"""Nudges: what a person types points at a command or an agent that is made for it."""
