"""Language models: clients, token budgets, read-only tools, and embeddings."""
