"""
Built-in packs: one folder each, with a `pack.toml` and one file per hook, its cases beside it.

They run inside the house. A hook that wants state, options or the caller's environment asks for `context`.
"""
