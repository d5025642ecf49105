"""The harness: work that was promised is finished, and what a sub-agent should bring is there."""
