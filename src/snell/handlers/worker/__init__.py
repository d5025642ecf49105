"""The worker process that runs Python hooks."""
