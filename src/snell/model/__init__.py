"""Frozen data and protocols. This package imports no other package of Snell."""
