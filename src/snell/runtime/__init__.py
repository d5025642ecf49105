"""Handle one event: load hooks, build the context, run hooks, store the decision, and work after the reply."""
