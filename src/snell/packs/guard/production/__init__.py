"""Changes of what runs in production; the guard works without this folder."""
