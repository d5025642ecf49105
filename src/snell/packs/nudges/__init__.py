"""Nudges: a prompt points the model at the command or agent that is made for it."""
