"""What `snell check` can test: one component per file; those of a pack are in its folder."""
