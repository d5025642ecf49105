"""Tool inputs: a call that lacks fields is refused before it fails, with an example that would pass."""
