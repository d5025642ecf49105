"""Memories: capture from tools and transcripts, the inbox, signals, recall, export."""
