"""The way of one event: context, executor, hook loader, dedupe, journal, and what follows the reply."""
