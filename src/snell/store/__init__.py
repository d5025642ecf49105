"""Keepers: one file per backend."""
