"""The runtime recomputes vectors of an earlier version, and reports a damaged word table."""

import asyncio
from pathlib import Path

import pytest

from snell.daemon.memory_timer import MemoryTimer
from snell.llm.embeddings.static_vectors import vector_of
from snell.memory.remember import remember
from snell.memory.service import has_to_catch_up, memories_of
from snell.memory.shortlist import shortlist_of
from snell.memory.types import Draft
from snell.operations import call_for
from snell.runtime.app import Runtime, database_of
from snell.system.paths import Places

pytest_plugins = ("tests.unit.llm.other_word_table",)

TEXTS = [f"Parcel number {number} goes to the harbour" for number in range(250)]


@pytest.fixture
def runtime(tmp_path: Path):
    """One that was last used by an earlier Snell; nothing was ever captured in it."""
    where = Places(tmp_path / "config", tmp_path / "state", tmp_path / "run")
    database = database_of(where)

    def fill(tx) -> None:
        for text in TEXTS:
            remember(tx, Draft(content=text, project="p"), shortlist_of(database), similar=2, is_gated=False)
        tx.do("UPDATE memories SET vector = ?, signature = ?, vector_make = 'static-1'", bytes(256), bytes(32))

    database.run(fill)
    with Runtime.embed(database=database, where=where) as made:
        yield made


def old_ones(runtime: Runtime) -> int:
    sql = "SELECT count(*) FROM memories WHERE vector_make = 'static-1'"
    return runtime.database.run(lambda tx: tx.rows(sql)[0][0])


def test_some_vectors_are_made_anew_at_first_use_and_the_rest_by_the_timer(runtime: Runtime, monkeypatch) -> None:
    monkeypatch.setattr("snell.memory.service.RE_EMBED_AT_START", 1e-9)
    memories_of(runtime)
    assert (old_ones(runtime), has_to_catch_up(runtime)) == (250, True)
    asyncio.run(MemoryTimer(runtime, every=0.0).run_if_due())
    assert (old_ones(runtime), has_to_catch_up(runtime)) == (0, False)
    sql = "SELECT content, vector FROM memories ORDER BY seq"
    assert runtime.database.run(lambda tx: tx.rows(sql)) == [(text, vector_of(text)) for text in TEXTS]


def test_few_are_made_anew_before_the_first_question_is_answered(runtime: Runtime) -> None:
    runtime.database.run(lambda tx: tx.do("DELETE FROM memories WHERE seq > 20"))
    question = {"query": "freight at the dock", "project": "p", "alpha": 1.0}
    answer = call_for("memory.hybrid_recall", runtime)(question, {"CWD": ""})
    assert (len(answer["memories"]), old_ones(runtime)) == (5, 0)


def test_health_says_that_the_table_is_damaged(runtime: Runtime, install) -> None:
    install(b"")
    answer = call_for("memory.health", runtime)({}, {"CWD": ""})
    assert (answer["status"], len(answer["problems"])) == ("degraded", 1)
    assert "the word table" in answer["problems"][0]
