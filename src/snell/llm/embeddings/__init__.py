"""Embeddings (vectors of texts): from a word table, from a model on this machine, or from an endpoint."""

import os
import sys
from collections.abc import Sequence
from typing import Any, Protocol

from snell.model.errors import SnellError

_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


class EmbeddingError(SnellError):
    """A model could not make a vector."""

    id = "memory.embedding"


class Embedder(Protocol):
    """A model that makes vectors."""

    name: str

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Return one vector of signed bytes for each text. Raises EmbeddingError."""


def numpy_or_none() -> Any:
    """
    Return numpy with one thread, unless it is loaded already; None if it is not installed: all works without it.

    numpy reads its number of threads once, when it is loaded. The default is one for each core, and on a busy machine
    these wait for each other far longer than the arithmetic with small matrices takes.
    """
    if "numpy" in sys.modules:
        return sys.modules["numpy"]
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    try:
        import numpy
    except ImportError:
        return None
    finally:
        for name, value in before.items():  # programs that hooks start keep their own setting
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
    return numpy
