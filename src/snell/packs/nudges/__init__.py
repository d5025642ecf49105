"""Nudges: when a prompt asks for a job, tell the model which command or agent is made for it."""
