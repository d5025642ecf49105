"""Notes that a session starts with and keeps: LOCAL.md, rules, and what must survive compaction."""
