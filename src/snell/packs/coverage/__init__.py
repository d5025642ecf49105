"""Say at the start of a session what `snell coverage` last found."""
