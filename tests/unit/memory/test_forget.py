"""Forgetting: the memory, and every capture of that very text, for every caller."""

from pathlib import Path

import pytest

from snell.memory import rows
from snell.memory.inbox import Inbox
from snell.memory.inbox_entry import InboxEntry, encode_entry
from snell.memory.service import memories_of
from snell.memory.types import NotRememberedError
from snell.operations import call_for, find
from tests.unit.packs.remember_runtime import DECIDED, SECRET, RememberRuntime

OTHER = "We decided to keep the login cookie in `sid_v2` because of an audit."


@pytest.fixture
def remembering(tmp_path: Path):
    made = RememberRuntime(tmp_path, {})
    yield made
    made.runtime.close()


def call(remembering: RememberRuntime, name: str, **arguments) -> dict:
    return dict(call_for(f"memory.{name}", remembering.runtime)(arguments, {"CWD": str(remembering.folder)}))


def capture(inbox: Inbox, content: str = DECIDED, project: str = "p", **fields) -> Path:
    waiting = InboxEntry(content=content, source_hook="Stop", timestamp="", project=project, signal_tier=1, **fields)
    return inbox.deliver(encode_entry(waiting))


def remembered(remembering: RememberRuntime) -> dict[str, tuple[str, str]]:
    """What is known: id, with text and project."""
    memories = memories_of(remembering.runtime)
    memories.drain()
    return {each.id: (each.content, each.project) for each in memories.run(lambda tx: list(rows.iter_memories(tx)))}


def files_with(remembering: RememberRuntime, text: str) -> list[str]:
    """The folders of files that hold a text."""
    files = [path for path in remembering.inbox.root.rglob("*") if path.is_file()]
    return sorted(path.parent.name for path in files if text.encode() in path.read_bytes())


@pytest.mark.parametrize("way", ["forget", "forget_batch"])
def test_captures_of_the_text_go_with_the_memory_and_others_stay(remembering: RememberRuntime, way: str) -> None:
    capture(remembering.inbox)
    capture(remembering.inbox, f"  {DECIDED.upper()}\n")
    capture(remembering.inbox, OTHER)
    known = remembered(remembering)
    failed = capture(remembering.inbox, project_root_dir="//far/away")
    failed.rename(remembering.inbox.root / "quarantine" / failed.name)
    (memory_id,) = (each for each, (text, _) in known.items() if text == DECIDED)
    given = {"memory_id": memory_id} if way == "forget" else {"memory_ids": [memory_id, "absent"]}
    missing = {} if way == "forget" else {"missing": ["absent"]}
    assert call(remembering, way, **given) == {"forgotten": [memory_id], "captures": 3, **missing}
    assert (files_with(remembering, DECIDED), files_with(remembering, OTHER)) == ([], ["processed"])
    assert list(remembered(remembering).values()) == [(OTHER, "p")]


def test_what_waits_does_not_come_back_and_another_project_keeps_its_own(remembering: RememberRuntime) -> None:
    capture(remembering.inbox)
    capture(remembering.inbox, project="q")
    known = remembered(remembering)
    capture(remembering.inbox)
    capture(remembering.inbox, project="r")
    (memory_id,) = (each for each, (_, project) in known.items() if project == "p")
    assert call(remembering, "forget", memory_id=memory_id)["captures"] == 3
    assert sorted(project for _, project in remembered(remembering).values()) == ["q", "r"]


def test_a_capture_of_another_program_that_held_a_secret_goes_too(remembering: RememberRuntime) -> None:
    text = f"{DECIDED} The token was {SECRET} until March."
    capture(remembering.inbox, text)
    (memory_id,) = remembered(remembering)
    assert files_with(remembering, SECRET) == ["processed"]
    call(remembering, "forget", memory_id=memory_id)
    assert files_with(remembering, SECRET) == []


def test_of_very_many_the_newest_are_looked_at_and_the_rest_is_told(remembering: RememberRuntime, monkeypatch) -> None:
    monkeypatch.setattr("snell.memory.forget.MOST_SEARCHED", 2)
    for text in (DECIDED, OTHER, DECIDED):
        capture(remembering.inbox, text)
    (memory_id,) = (each for each, (text, _) in remembered(remembering).items() if text == DECIDED)
    assert call(remembering, "forget", memory_id=memory_id) == {
        "forgotten": [memory_id],
        "captures": 1,
        "not_searched": 1,
    }
    assert files_with(remembering, DECIDED) == ["processed"]


def test_where_nothing_may_be_forgotten_no_capture_goes(remembering: RememberRuntime) -> None:
    capture(remembering.inbox)
    (memory_id,) = remembered(remembering)
    forget = find("memory.forget")
    assert forget
    with pytest.raises(NotRememberedError, match="belongs to another project"):
        forget.invoke(remembering.runtime, {"memory_id": memory_id}, {"CWD": "/elsewhere"}, is_agent=True)
    assert call(remembering, "forget_batch", memory_ids=["absent"]) == {"forgotten": [], "missing": ["absent"]}
    assert files_with(remembering, DECIDED) == ["processed"]
