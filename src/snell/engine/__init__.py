"""Pure functions from events, hooks and outcomes to decisions; no input or output."""
