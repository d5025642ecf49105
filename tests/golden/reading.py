"""
Golden files: what a real client sends, what we make of it, and what it gets back.

`when` names what one hook asks for: `"no_opinion"`, or effects by lower-case name, as in
`{"deny": {"because": "no", "instead": "ask"}, "note": "text"}`; `rewrite` holds the whole new value and `extra` and
`env` hold names and values. Replies hold the whole stdout: null for none, an object for JSON, a string for plain text.
`called_as` is the event's name on the command line, for payloads that do not say it. Where a client says things its own
way, `event.payload` holds the payload as hooks see it.
"""

import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from snell.clients import client_named
from snell.engine.match import targets
from snell.model.decision import Decision
from snell.model.effects import Allow, Ask, Defer, Deny, Effect, Env, Extra, Note, Rewrite, Stop, Tell
from snell.model.events import Event, text_in
from snell.model.protocols import Reply
from tests.helpers import decide_event, hook

FOLDER = Path(__file__).parent
HOOK = "house/rule"

JUDGEMENTS: dict[str, Callable[..., Effect]] = {"allow": Allow, "ask": Ask, "defer": Defer, "deny": Deny, "stop": Stop}
TEXTS: dict[str, Callable[..., Effect]] = {"note": Note, "tell": Tell}


@cache
def golden_files(client: str = "*") -> list[Path]:
    return sorted(FOLDER.glob(f"{client}/*.json"))


@cache
def golden(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


def name_of(path: Path) -> str:
    """`claude_code/PreToolUse-write`, for the names of test cases."""
    return f"{path.parent.name}/{path.stem}"


def event_of(path: Path) -> str:
    return path.stem.partition("-")[0]


def raw_payload(path: Path) -> bytes:
    return json.dumps(golden(path)["payload"]).encode()


def event_in(path: Path) -> Event:
    """The event that a file's client makes of its payload."""
    return client_named(path.parent.name).decode(raw_payload(path), golden(path).get("called_as", ""))


def decision_when(event: Event, when: Any) -> Decision:
    """What the engine decides when one hook asks for this."""
    return decide_event(event, hook(HOOK, tuple(effects_of(when)), on=event.name))


def effects_of(when: Any) -> Iterator[Effect]:
    for name, value in {} if when == "no_opinion" else when.items():
        if name in JUDGEMENTS:
            yield JUDGEMENTS[name](**value)
        elif name in TEXTS:
            yield TEXTS[name](value)
        elif name == "rewrite":
            yield Rewrite(value)
        elif name == "env":
            yield Env(value)
        else:
            assert name == "extra", f"no effect is called {name}"
            yield from (Extra(*each) for each in value.items())


def event_fields(event: Event) -> dict[str, Any]:
    """An event as a golden file has it: what hooks can ask for, empty parts left out."""
    fields = {
        "name": event.name,
        "client": event.client,
        "subject": event.row.subject,
        "matcher_reads": event.row.matches,
        "matcher_sees": list(targets(event)) if event.row.matches else [],
        "tool": event.tool,
        "tool_name": event.tool_name,
        "kind": event.kind,
        "session_id": event.session_id,
        "cwd": event.cwd,
        "transcript_path": event.transcript_path,
        "permission_mode": text_in(event.payload, "permission_mode"),
        "agent_id": event.agent_id,
        "tool_use_id": event.tool_use_id,
        "tool_input": event.tool_input,
        "tool_response": event.tool_response,
        "prompt": event.prompt,
        "is_continuation": event.is_continuation,
        "flags": list(event.flags),
    }
    return {name: value for name, value in fields.items() if value}


def reply_fields(reply: Reply) -> dict[str, Any]:
    """A reply as a golden file has it."""
    text = reply.stdout.decode()
    stdout = json.loads(text) if text.startswith("{") else text or None
    return {"stdout": stdout, "stderr": reply.stderr.decode(), "exit": reply.exit_code}
