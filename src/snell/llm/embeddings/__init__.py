"""Vectors of texts: from a table of words, from a model on this machine, or from an endpoint."""
