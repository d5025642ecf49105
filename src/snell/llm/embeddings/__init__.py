"""Embeddings (vectors of texts): from a word table, from a model on this machine, or from an endpoint."""

from collections.abc import Sequence
from typing import Protocol

from snell.model.errors import SnellError


class EmbeddingError(SnellError):
    """A model could not make a vector."""

    id = "memory.embedding"


class Embedder(Protocol):
    """A model that makes vectors."""

    name: str

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Return one vector of signed bytes for each text. Raises EmbeddingError."""
