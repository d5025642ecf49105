"""
Store the results of sub-agents.

Why      After a crash the same sub-agent is started again for a result that exists.
What     With `keep_subagent_output`, the result of a sub-agent is stored under a key made of its input; with
         `reuse_subagent_output` the same input in the same project is refused while its result exists.
Instead  Both are off by default.
"""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from snell.model.context import Context
from snell.model.effects import Deny
from snell.model.events import Event
from snell.redact import redact_data
from snell.sdk.decorators import judges, watches
from snell.system.files import text_or_nothing, write_atomically
from snell.system.json_input import json_or_none

OUTPUT, PREVIEW = "subagent_output.json", 4_000
LARGEST = 2_000_000  # characters, of up to four bytes each


@watches("PostToolUse", kind="agent", when={"keep_subagent_output": True}, waits=True)
def store_result(event: Event, context: Context) -> None:
    """Store a sub-agent's result, and a summary of it."""
    from snell.clients.emulation.base import plain_text  # slow to import

    folder = _folder(event, context)
    if folder is None:
        return
    clean = redact_data({"input": event.tool_input, "output": event.tool_response})
    text = json.dumps(clean, ensure_ascii=False, default=str)[:LARGEST]
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_atomically(folder / OUTPUT, text.encode())
    write_atomically(folder / "summary.md", plain_text(clean["output"])[:PREVIEW].encode())


@judges("PreToolUse", kind="agent", when={"reuse_subagent_output": True})
def reuse_result(event: Event, context: Context) -> Deny | None:
    """Refuse to start a sub-agent whose result is stored and can be read."""
    folder = _folder(event, context)
    summary = text_or_nothing(folder / "summary.md", LARGEST) if folder else ""
    if not folder or not summary.strip() or not json_or_none(text_or_nothing(folder / OUTPUT, 4 * LARGEST)):
        return None
    because = f"the result of this sub-agent is stored: {summary[:500]}"
    return Deny(because, instead=f"read {folder / OUTPUT}")


def task_key(given: dict[str, Any], project: str = "") -> str:
    """Return a key that is the same for the same input in the same project, in any order of its fields."""
    text = json.dumps(given, sort_keys=True, default=str)
    return hashlib.sha256(f"{project}\0{text}".encode() if project else text.encode()).hexdigest()[:32]


def _folder(event: Event, context: Context) -> Path | None:
    if not context.state or not event.tool_input:
        return None
    project = os.path.realpath(context.project_dir or event.cwd) if context.project_dir or event.cwd else ""
    return context.state / "subagents" / task_key(event.tool_input, project)
