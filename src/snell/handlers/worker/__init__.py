"""The worker: a warm child process that runs the Python hooks of files."""
