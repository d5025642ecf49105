"""Ways in: thin. They parse, call the house and print."""
