"""Read and write tasks, efforts, sessions, phases and agents in the database."""
