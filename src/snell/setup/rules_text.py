"""What a client's rules file says about us. One text for all: several clients read the same file."""

RULES = """
## Snell

This agent works with Snell, which may refuse a tool call, change it, or answer it with a note:

- A refusal comes with its reason, and often with what to do instead. Do that; do not try the same thing in other words.
- Ask the user when a refusal seems wrong. `snell why` shows them what decided.
- Never edit Snell's settings or hooks to get around a refusal.
- Before a command that deletes, overwrites, publishes or pushes, say what it will do and wait for the user.
- Never put keys, tokens or passwords into files, commands or answers.
- Where there is an MCP server `snell`, recall what is known before you begin; remember decisions and their reasons.
"""
