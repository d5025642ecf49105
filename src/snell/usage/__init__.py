"""Usage: count the tokens of a session in its transcript, for hooks, limits and `snell usage`"""
