"""Model clients, token budgets and embeddings."""
