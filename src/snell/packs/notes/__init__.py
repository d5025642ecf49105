"""Notes that a session begins with and keeps: LOCAL.md, rules, and what must survive compaction."""
