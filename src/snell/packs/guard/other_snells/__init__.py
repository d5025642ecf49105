"""Other Snells than the user's: clones that are worked on, and homes in temporary folders; the guard works without."""
