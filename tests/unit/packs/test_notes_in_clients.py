"""The notes of a session reach the model in every client, on whichever event that client can carry them."""

from pathlib import Path
from uuid import uuid4

import pytest
from msgspec.structs import replace

from snell.clients import client_named
from snell.model.events import Event
from snell.runtime.app import Runtime
from snell.settings.packs import pack_hooks
from tests.golden.reading import FOLDER, event_in, event_of, golden_files

CLIENTS = sorted(folder.name for folder in FOLDER.iterdir() if any(folder.glob("*.json")))
AFTER = ("UserPromptSubmit", "SessionStart", "PreToolUse", "PostToolUse", "PostToolBatch")


@pytest.fixture
def runtime(tmp_path: Path) -> Runtime:
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude/LOCAL.md").write_text("we deploy on Fridays", encoding="utf-8")
    (tmp_path / ".claude/RECLAUDE.md").write_text("tests come first", encoding="utf-8")
    return Runtime.embed(*pack_hooks("notes"), env={"HOME": str(tmp_path)})


def sent(client: str, *names: str) -> list[Event]:
    """One event of each name, as this client sends it, all in one session, and none of them sent before."""
    found = {event_of(path): event_in(path) for path in reversed(golden_files(client))}
    return [_anew(found[name]) for name in names if name in found]


def _anew(event: Event) -> Event:
    fresh = {name: uuid4().hex for name in ("tool_use_id", "timestamp") if name in event.payload}
    fixed = {"session_id": "s"} | ({"source": "startup"} if event.name == "SessionStart" else {})
    return replace(event, payload={**event.payload, **fresh, **fixed})


def answered(runtime: Runtime, client: str, events: list[Event]) -> str:
    """Everything that the client is told, and takes for its model."""
    replies = [client_named(client).encode(runtime.decide(event, uuid4().hex)) for event in events]
    return "\n".join(reply.stdout.decode() for reply in replies)


@pytest.mark.parametrize("client", CLIENTS)
def test_local_notes_reach_the_model_with_the_first_prompt_or_soon_after(runtime: Runtime, client: str):
    events = sent(client, *AFTER)
    assert events, f"there is no event of {client} to try"
    told = answered(runtime, client, events)
    assert ("we deploy on Fridays" in told) is client_named(client).capabilities.note
    assert "we deploy on Fridays" not in answered(runtime, client, sent(client, *AFTER))


def test_a_first_call_without_notes_hides_none_from_another_home_with_the_same_session_id(
    runtime: Runtime, tmp_path: Path
):
    """Crush tells of tool calls alone, so notes come with the first of them."""
    without = Runtime.embed(*pack_hooks("notes"), env={"HOME": str(tmp_path / "other")})
    assert answered(without, "crush", sent("crush", *AFTER)) == ""
    assert "we deploy on Fridays" in answered(runtime, "crush", sent("crush", *AFTER))


@pytest.mark.parametrize("client", [each for each in CLIENTS if sent(each, "PreCompact")])
def test_the_rules_reach_the_model_again_after_a_compaction(runtime: Runtime, client: str):
    answered(runtime, client, sent(client, *AFTER))
    told = answered(runtime, client, [*sent(client, "PreCompact"), *sent(client, *AFTER)])
    assert "tests come first" in told
    assert "add files to a commit by name" in told
    assert "we deploy on Fridays" in told
    assert "tests come first" not in answered(runtime, client, sent(client, *AFTER))
