"""
Select the embedding model that the settings name, and call an OpenAI-compatible endpoint.

A model is optional: without one, memories are found by words and by the static vectors.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from snell.llm.embeddings import Embedder, EmbeddingError
from snell.llm.embeddings.static_vectors import quantize
from snell.system.optional_packages import install_advice

SECONDS = 5.0
LARGEST_ANSWER = 16 * 1024 * 1024
LONGEST_TEXT = 8_000  # characters; models cut earlier


def embedder_from(options: Mapping[str, Any], state: Path | None = None) -> Embedder | None:
    """Return the embedder of the settings: `static` is none, `auto` is a model whose files are on this machine."""
    kind = options.get("embedding", "auto")
    if kind == "static":
        return None
    if kind in ("auto", "minilm"):
        return _local_model(str(options.get("model_folder") or ""), state, is_wanted=kind == "minilm")
    if kind != "endpoint":
        known = "`auto`, `static`, `minilm` or `endpoint`"
        message = f"`embedding` cannot be `{str(kind)[:80]}`"
        raise EmbeddingError(message, where="[pack.remember]", advice=f"use {known}")
    if not options.get("endpoint"):
        raise EmbeddingError(
            "`endpoint` is missing", where="[pack.remember]", advice="set it to the address of the model"
        )
    key = _read_key(str(options.get("endpoint_key_file") or ""))
    return Endpoint(str(options["endpoint"]), str(options.get("endpoint_model") or ""), key)


def _local_model(named: str, state: Path | None, *, is_wanted: bool) -> Embedder | None:
    """Return the model on this machine; it is an error that there is none only if the settings ask for it."""
    from snell.llm.embeddings.minilm import has_numpy, model_folder, model_in

    folder = model_folder(named, state)
    if folder and has_numpy():
        return model_in(folder)
    if not is_wanted and not named:
        return None
    if folder:
        message = "a model on this machine needs numpy, which is not installed"
        raise EmbeddingError(message, advice=install_advice("embed"))
    advice = "put its files into a folder and set `model_folder` to it"
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
        answer = self._post(msgspec.json.encode(body))
        try:
            items = msgspec.json.decode(answer, type=_Answer).data
        except msgspec.DecodeError as error:
            raise EmbeddingError(f"{self._url} did not answer in the form of the API: {error}") from None
        found = {item.index: item.embedding for item in items}
        if sorted(found) != list(range(len(texts))) or not all(found.values()):
            raise EmbeddingError(f"{self._url} answered {len(items)} vectors for {len(texts)} texts")
        return [quantize(found[number]) for number in range(len(texts))]

    def _post(self, body: bytes) -> bytes:
        from snell.system.address_policy import RefusedError
        from snell.system.deadline import Deadline, DeadlineExceededError
        from snell.system.http_client import Call, HttpError, send_request, target_of_user

        deadline = Deadline(self._seconds)
        headers = {"content-type": "application/json"}
        if self._key:
            headers["authorization"] = f"Bearer {self._key}"
        try:
            call = Call("POST", target_of_user(self._url, deadline), headers, body)
            with send_request(call, deadline) as response:
                if response.status != 200:
                    raise EmbeddingError(f"{self._url} answered with status {response.status}")
                return response.read_all(LARGEST_ANSWER)
        except (HttpError, RefusedError, ValueError) as error:
            raise EmbeddingError(f"{self._url}: {error}") from None
        except DeadlineExceededError:
            raise EmbeddingError(f"{self._url} did not answer within {self._seconds:g} s") from None


def _read_key(path: str) -> str:
    """Read the key from a file: the daemon keeps no secrets of the environment that it was started in."""
    from snell.system.files import FileError, read_capped

    if not path:
        return ""
    try:
        return read_capped(Path(os.path.expanduser(path)), 10_000).decode("utf-8", "replace").strip()
    except (OSError, FileError) as error:
        raise EmbeddingError(f"the key for the endpoint cannot be read: {error}", where=f"`{path}`") from None
