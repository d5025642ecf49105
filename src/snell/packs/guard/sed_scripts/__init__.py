"""What `sed` makes of a known text; without this folder, that is unknown to the guard."""
