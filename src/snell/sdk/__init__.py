"""The author's bench: what a hook may import."""
