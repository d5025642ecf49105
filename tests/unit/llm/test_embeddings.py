"""Vectors from an endpoint: what is sent, what is believed, and what happens when no server answers."""

from pathlib import Path

import pytest

from snell.llm.embeddings import EmbeddingError
from snell.llm.embeddings.endpoint import Endpoint, embedder_from
from tests.loopback import Answer, serving


def answer(*vectors: list[float]) -> Answer:
    return Answer({"data": [{"index": number, "embedding": vector} for number, vector in enumerate(vectors)]})


def test_texts_are_sent_together_and_come_back_as_signed_bytes(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("k1\n", encoding="utf-8")
    with serving(answer([1.0, -0.5], [0.0, 0.0])) as server:
        options = {"embedding": "endpoint", "endpoint": f"{server.url}/v1/embeddings", "endpoint_model": "m"}
        embedder = embedder_from({**options, "endpoint_key_file": str(tmp_path / "key")})
        assert embedder
        assert embedder.embed(["a", "x" * 9_000]) == [bytes([127, 256 - 64]), bytes(2)]
    (sent,) = server.sent
    assert (sent.path, sent.headers["authorization"]) == ("/v1/embeddings", "Bearer k1")
    assert sent.json == {"model": "m", "input": ["a", "x" * 8_000]}


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        (Answer("no", 500), "answered with status 500"),
        (Answer("{"), "did not answer in the form of the API"),
        (Answer({"data": []}), "answered 0 vectors for 1 texts"),
        (Answer({"data": [{"index": 0, "embedding": []}]}), "answered 1 vectors for 1 texts"),
        (answer([1.0], [2.0]), "answered 2 vectors for 1 texts"),
        (Answer({"data": [{"index": 0, "embedding": ["x"]}]}), "did not answer in the form of the API"),
        (Answer('{"data": [{"index": 0, "embedding": [1e999]}]}'), "did not answer in the form of the API"),
    ],
)
def test_an_answer_that_is_none_is_refused(said: Answer, problem: str) -> None:
    with serving(said) as server, pytest.raises(EmbeddingError) as error:
        Endpoint(f"{server.url}/v1/embeddings", "m").embed(["a"])
    assert problem in str(error.value)


def test_an_endpoint_that_is_down_or_slow_or_no_address_says_so_in_time() -> None:
    with serving(Answer(before=30)) as server, pytest.raises(EmbeddingError, match=r"did not answer within 0\.2 s"):
        Endpoint(server.url, "m", seconds=0.2).embed(["a"])
    for url in ("http://127.0.0.1:1/v1", "nonsense", "ftp://x/", "http://["):
        with pytest.raises(EmbeddingError) as error:
            Endpoint(url, "m", seconds=2).embed(["a"])
        assert str(error.value).startswith(f"{url}: ")


def test_without_an_endpoint_there_is_no_embedder() -> None:
    assert embedder_from({}) is None
    with pytest.raises(EmbeddingError, match="`endpoint` is missing"):
        embedder_from({"embedding": "endpoint", "endpoint": ""})
    with pytest.raises(EmbeddingError, match="the key for the endpoint cannot be read"):
        embedder_from({"embedding": "endpoint", "endpoint": "http://localhost/", "endpoint_key_file": "/nowhere"})
