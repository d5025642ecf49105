"""Language models: clients, token budgets, what they may read, and embeddings."""
