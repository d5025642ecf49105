"""What the agents are doing, as rows: plain functions over a transaction, the same for every backend."""
