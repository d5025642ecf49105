"""Verbs: pure functions from events, hooks and outcomes to decisions. Nothing here touches the outside."""
