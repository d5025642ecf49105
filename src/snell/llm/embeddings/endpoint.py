"""
Vectors from a model, for those who have one: its files on this machine, or an OpenAI-compatible endpoint.

It is optional and comes second: without it memories are found by words and by the offline vectors.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from snell.llm.embeddings.static_vectors import quantize
from snell.model.errors import SnellError
from snell.system.optional_packages import install_advice

SECONDS = 5.0
LARGEST_ANSWER = 16 * 1024 * 1024
LONGEST_TEXT = 8_000  # characters; models cut earlier


class EmbeddingError(SnellError):
    """The model that makes vectors did not."""

    id = "memory.embedding"


class Embedder(Protocol):
    name: str

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """One vector of signed bytes for each text. Raises EmbeddingError."""


def embedder_from(options: Mapping[str, Any], state: Path | None = None) -> Embedder | None:
    """The one that the settings ask for: `static` is none, `auto` is a model whose files are on this machine."""
    kind = options.get("embedding", "auto")
    if kind == "static":
        return None
    if kind in ("auto", "minilm"):
        return _local(str(options.get("model_folder") or ""), state, is_wanted=kind == "minilm")
    if kind != "endpoint":
        known = "`auto`, `static`, `minilm` or `endpoint`"
        raise EmbeddingError(f"`embedding` is `{str(kind)[:80]}`", where="[pack.remember]", advice=known)
    if not options.get("endpoint"):
        raise EmbeddingError("`endpoint` is missing", where="[pack.remember]", advice="say where the model answers")
    key = _key_in(str(options.get("endpoint_key_file") or ""))
    return Endpoint(str(options["endpoint"]), str(options.get("endpoint_model") or ""), key)


def _local(named: str, state: Path | None, *, is_wanted: bool) -> Embedder | None:
    """A model on this machine. Nobody misses one that nobody asked for."""
    from snell.llm.embeddings.minilm import has_numpy, model_folder, model_in

    folder = model_folder(named, state)
    if folder and has_numpy():
        return model_in(folder)
    if not is_wanted and not named:
        return None
    if folder:
        told = "a model on this machine needs numpy, which is not installed"
        raise EmbeddingError(told, advice=install_advice("embed"))
    advice = "put its files into a folder and name that as `model_folder`"
    raise EmbeddingError("MiniLM is not installed", where="[pack.remember]", advice=advice)


class _Item(Struct):
    embedding: list[float]
    index: int = 0


class _Answer(Struct):
    data: list[_Item]


class Endpoint:
    """`POST /v1/embeddings`, as OpenAI, Ollama, vLLM, llama.cpp and others have it."""

    def __init__(self, url: str, model: str, key: str = "", seconds: float = SECONDS) -> None:
        self.name = f"{model or 'default'}@{url}"[:200]
        self._url, self._model, self._key, self._seconds = url, model, key, seconds

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        if not texts:
            return []
        body = {"model": self._model, "input": [text[:LONGEST_TEXT] for text in texts]}
        answer = self._asked(msgspec.json.encode(body))
        try:
            items = msgspec.json.decode(answer, type=_Answer).data
        except msgspec.DecodeError as error:
            raise EmbeddingError(f"{self._url} answered something else: {error}") from None
        found = {item.index: item.embedding for item in items}
        if sorted(found) != list(range(len(texts))) or not all(found.values()):
            raise EmbeddingError(f"{self._url} answered {len(items)} vectors for {len(texts)} texts")
        return [quantize(found[number]) for number in range(len(texts))]

    def _asked(self, body: bytes) -> bytes:
        from snell.system.address_policy import RefusedError, check_url
        from snell.system.deadline import Deadline, DeadlineExceededError
        from snell.system.http_client import Call, HttpError, resolver, send_request

        deadline = Deadline(self._seconds)
        headers = {"content-type": "application/json"}
        if self._key:
            headers["authorization"] = f"Bearer {self._key}"
        try:
            # The user named this host, so it may be on the user's own network.
            allowed = (urlsplit(self._url).hostname or "",)
            target = check_url(self._url, loopback=True, allowed=allowed, resolve=resolver(deadline))
            with send_request(Call("POST", target, headers, body), deadline) as reading:
                if reading.status != 200:
                    raise EmbeddingError(f"{self._url} answered with status {reading.status}")
                return reading.read_all(LARGEST_ANSWER)
        except (HttpError, RefusedError, ValueError) as error:
            raise EmbeddingError(f"{self._url}: {error}") from None
        except DeadlineExceededError:
            raise EmbeddingError(f"{self._url} did not answer within {self._seconds:g} s") from None


def _key_in(path: str) -> str:
    """The key is in a file of the user's: a daemon keeps no secrets of the environment it was started in."""
    from snell.system.files import FileError, read_capped

    if not path:
        return ""
    try:
        return read_capped(Path(os.path.expanduser(path)), 10_000).decode("utf-8", "replace").strip()
    except (OSError, FileError) as error:
        raise EmbeddingError(f"the key for the endpoint cannot be read: {error}", where=f"`{path}`") from None
