"""Another program writes: what only looks does not notice, and what writes waits for its turn."""

import threading
from pathlib import Path

import apsw
import pytest

from snell.memory import rows
from snell.memory import service as module
from snell.memory.recall import Question
from snell.memory.remember import assess, store_assessed
from snell.memory.service import Memories
from snell.memory.shortlist import shortlist_of
from snell.memory.types import Draft
from snell.model.errors import StoreBusyError
from snell.runtime.app import database_of
from snell.system.paths import Places

TEXT = "We decided to use uv for packages because pip was slow, see `uv.lock`"
OTHER = "The nightly job fails when the disk of the build host is full"


@pytest.fixture
def memories(tmp_path: Path):
    where = Places(tmp_path / "config", tmp_path / "state", tmp_path / "run")
    database = database_of(where, low_latency=True)
    made = Memories(database, where.state / "memory")
    made.remember(Draft(content=TEXT, project="p"))
    made.follow_rename(str(tmp_path))
    yield made
    database.close()


@pytest.fixture
def writer(memories: Memories, tmp_path: Path):
    connection = apsw.Connection(str(tmp_path / "state" / "snell.db"))
    connection.execute("BEGIN IMMEDIATE")
    yield connection
    connection.close()


def test_what_only_looks_is_answered(memories: Memories, writer, tmp_path: Path) -> None:
    memories.follow_rename(str(tmp_path))
    (found,) = memories.recall(Question(text="uv packages", project="p"))
    assert (found.memory.content, memories.nearby(found.memory.id)) == (TEXT, [])
    assert memories.remember(Draft(content=TEXT, project="p")).status == "rejected_exact"
    assert memories.remember(Draft(content=f"So {TEXT}!", project="p")).status == "rejected_similar"


def test_what_is_to_be_kept_waits_for_its_turn(memories: Memories, writer) -> None:
    threading.Timer(0.8, lambda: writer.execute("ROLLBACK")).start()  # longer than the connection itself waits
    assert memories.remember(Draft(content=OTHER, project="p")).status == "stored"


def test_a_writer_that_never_ends_is_told_of(memories: Memories, writer, monkeypatch) -> None:
    monkeypatch.setattr(module, "LOCK_SECONDS", 0.0)
    with pytest.raises(StoreBusyError, match="is in use by another program; try again"):
        memories.remember(Draft(content=OTHER, project="p"))


def test_what_came_between_the_look_and_the_writing_counts(memories: Memories) -> None:
    draft, near = Draft(content=OTHER, project="p", signal=0.9), shortlist_of(memories.database)
    assessment = memories.read(lambda tx: assess(tx, draft, near))
    first = memories.remember(Draft(content=f"So {OTHER}!", project="p"))
    kept = memories.run(lambda tx: store_assessed(tx, assessment, near))
    assert (assessment.kept.status, kept.status, kept.id) == ("stored", "rejected_similar", first.id)
    assert len(memories.read(lambda tx: rows.list_memories(tx))) == 2
