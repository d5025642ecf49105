"""Another word table in the place of the one that is shipped."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from snell.llm.embeddings import static_vectors, word_table
from snell.memory import recall

Install = Callable[[bytes | None], word_table.WordTable]


def forget_the_table() -> None:
    for cached in (word_table.word_table, static_vectors._direction_of, recall.synonyms):
        cached.cache_clear()


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Install]:
    """Another file in the place of the table; None: no file."""

    def put(data: bytes | None) -> word_table.WordTable:
        path = tmp_path / "word_table.bin"
        path.write_bytes(data) if data is not None else path.unlink(missing_ok=True)
        monkeypatch.setattr(word_table, "FILE", path)
        forget_the_table()
        return word_table.word_table()

    yield put
    monkeypatch.undo()
    forget_the_table()
