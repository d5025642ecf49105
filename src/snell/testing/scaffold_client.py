"""The files of a new client: its adapter, how it is set up, and one golden payload."""

import json
from pathlib import Path

from snell.model.errors import SnellError
from snell.testing.scaffold import Files, checked_name

ADAPTER = '''"""{title}: say here what is odd about it, and how you know."""

from snell.clients.protocol.reply_forms import flat
from snell.clients.protocol.codec import make_codec
from snell.clients.protocol.table import Answers, ClientTable, Slot, Tool
from snell.model.protocols import Capabilities, Quirk

NAME = "{name}"
TITLE = "{title}"
ALIASES: tuple[str, ...] = ()
CAPABILITIES = Capabilities(native=False)
QUIRKS: tuple[Quirk, ...] = ()

TABLE = ClientTable(
    name=NAME,
    title=TITLE,
    tools={{"shell": Tool("Bash")}},
    answers={{"PreToolUse": Answers(deny=flat(decision="deny", reason=Slot.REASON))}},
)

decode, encode, encode_failure = make_codec(TABLE)
'''

INSTALL = '''"""{title}: where it keeps its hooks, and in which form."""

from snell.model.installs import Install

INSTALL = Install(
    name="{name}",
    title="{title}",
    programs=("{name}",),
    base="~/.{name}",
    folders=("{{base}}",),
    form="groups",
    hooks={{"user": "{{base}}/hooks.json", "project": ".{name}/hooks.json"}},
    events=("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"),
    mcp={{"user": "{{base}}/mcp.json"}},
    rules={{"project": "AGENTS.md"}},
    after=("start a new session",),
)
'''


def files_of_client(name: str, checkout: Path) -> Files:
    """Everything that a new client needs but its line in the registry. Raises SnellError outside a checkout."""
    clients = checkout / "src" / "snell" / "clients"
    if not clients.is_dir():
        advice = "a client is part of Snell: run this in a clone of it"
        raise SnellError(f"`{checkout}` is not a checkout of Snell", advice=advice)
    name = checked_name(name, "client")
    fill = {"name": name, "title": name.replace("_", " ").title()}
    golden = json.dumps(_golden(name), indent=2) + "\n"
    return {
        clients / f"{name}.py": ADAPTER.format(**fill),
        clients / "installs" / f"{name}.py": INSTALL.format(**fill),
        checkout / "tests" / "golden" / name / "PreToolUse.json": golden,
    }


def registry_line(name: str) -> str:
    return f'    "{name}": "snell.clients.{name}",'


def _golden(name: str) -> dict[str, object]:
    call = {"command": "ls"}
    payload = {"hook_event_name": "PreToolUse", "session_id": "s-1", "cwd": "/home/dev/project", "tool_name": "shell"}
    return {
        "source": {"client": f"{name}, version?", "seen": "made up; replace it by what the real client sends"},
        "payload": {**payload, "tool_input": call},
        "event": {},
        "replies": [{"when": "no_opinion", "stdout": None}],
    }
