"""Nouns: frozen data and protocols. This room knows nobody else."""
