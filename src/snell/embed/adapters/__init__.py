"""
Snell inside other agent libraries: the hooks of a runtime as callbacks, guardrails or middleware of the library.

One module per library; the library is imported when its adapter is first used.
"""
