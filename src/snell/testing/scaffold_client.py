"""Write a new client: its module, its line in the registry, and a golden file that the project's tests check."""

import json
import re
from pathlib import Path

from snell.model.errors import SnellError
from snell.testing.scaffold import Files, checked_name

MODULE = '''"""{title}: say here which version this was tried with, and what is unusual about it."""

from snell.clients.protocol.codec import make_codec
from snell.clients.protocol.install_forms import GROUPS
from snell.clients.protocol.reply_forms import DECISION_DENY, FLAT_CONTEXT
from snell.clients.protocol.table import Answers, ClientTable, Tool
from snell.model.installs import Install
from snell.model.protocols import Capabilities, Quirk

NAME = "{name}"
TITLE = "{title}"
# Every answer that the table below cannot express is False here.
CAPABILITIES = Capabilities(native=False, ask=False, rewrite=False, stop=False, prompt_block=False)
QUIRKS: tuple[Quirk, ...] = ()

# How the client reports events, and which answers it takes. Add a golden file for each event in `answers`.
TABLE = ClientTable(
    name=NAME,
    title=TITLE,
    tools={{"shell": Tool("Bash")}},
    answers={{"PreToolUse": Answers(deny=DECISION_DENY, note=FLAT_CONTEXT)}},
)

decode, encode, encode_failure = make_codec(TABLE)

# Where the client keeps its configuration. Add a golden file for each event that set-up registers.
INSTALL = Install(
    name=NAME,
    title=TITLE,
    programs=("{name}",),
    base="~/.{name}",
    folders=("{{base}}",),
    form=GROUPS,
    hooks={{"user": "{{base}}/hooks.json", "project": ".{name}/hooks.json"}},
    events=("PreToolUse",),
    session_start=(),
    mcp={{"user": "{{base}}/mcp.json"}},
    rules={{"project": "AGENTS.md"}},
    after=("start a new session",),
)
'''
_REGISTRY_LINE = re.compile(r'    "(\w+)": \(.*\),\n')


def files_of_client(name: str, checkout: Path) -> Files:
    """Return the new files of a client: module and golden file. Raises SnellError outside a checkout."""
    clients = _registry(checkout).parent
    name = checked_name(name, "client")
    golden = json.dumps(_golden(name), indent=2) + "\n"
    return {
        clients / f"{name}.py": MODULE.format(name=name, title=_title(name)),
        checkout / "tests" / "golden" / name / "PreToolUse.json": golden,
    }


def add_to_registry(name: str, checkout: Path) -> Path:
    """Add the client's line to the registry, in alphabetical order, and return the registry's path."""
    path = _registry(checkout)
    text = path.read_text(encoding="utf-8")
    lines = list(_REGISTRY_LINE.finditer(text))
    after = next((line.start() for line in lines if line[1] > name), lines[-1].end())
    path.write_text(f'{text[:after]}    "{name}": (),\n{text[after:]}', encoding="utf-8")
    return path


def _registry(checkout: Path) -> Path:
    path = checkout / "src" / "snell" / "clients" / "__init__.py"
    if not path.is_file():
        advice = "a client is part of Snell: run this command at the top of a clone of it"
        raise SnellError(f"`{checkout}` is not a checkout of Snell", advice=advice)
    return path


def _title(name: str) -> str:
    return name.replace("_", " ").title()


def _golden(name: str) -> dict[str, object]:
    payload = {
        "hook_event_name": "PreToolUse",
        "session_id": "s-1",
        "cwd": "/home/dev/project",
        "tool_name": "shell",
        "tool_input": {"command": "ls"},
    }
    event = {
        "name": "PreToolUse",
        "client": name,
        "subject": "tool",
        "matcher_reads": "tool_name",
        "matcher_sees": ["Bash", "shell"],
        "tool": "Bash",
        "tool_name": "shell",
        "kind": "shell",
        "session_id": "s-1",
        "cwd": "/home/dev/project",
        "tool_input": {"command": "ls"},
        "payload": {**payload, "tool_name": "Bash", "native": {"tool": "shell"}},
    }
    return {
        "source": {
            "client": f"{name}, give its version",
            "seen": "invented by `snell new client`; replace it by what the real client sends",
        },
        "payload": payload,
        "event": event,
        "replies": [
            {"when": "no_opinion", "stdout": None, "stderr": "", "exit": 0},
            {
                "when": {"deny": {"because": "no"}},
                "stdout": {"decision": "deny", "reason": "no"},
                "stderr": "",
                "exit": 0,
            },
        ],
    }
