"""Settings files: find, read, check and merge them; trust of projects; built-in packs."""
