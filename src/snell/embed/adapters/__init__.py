"""
Snell inside other agent libraries: the hooks of a house as that library's own callbacks, guardrails or middleware.

One file for each library, which is imported when its adapter is first used.
"""
