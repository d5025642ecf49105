"""What several handlers and doors need of the outside: processes, places, files."""
