"""The harness: an agent finishes what it promised, and a sub-agent leaves the files that it should."""
