"""Tool inputs: what a call lacks is said before it fails, with an example that would pass."""
