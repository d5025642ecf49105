"""
Built-in packs: one folder each, with a `pack.toml` and one file per hook, its cases beside it.

They run inside the runtime. A hook that needs state, options or the caller's environment takes `context`.
"""
