"""Hook forms, and parts of them, that several clients take."""

from collections.abc import Mapping
from typing import Any

from snell.model.installs import HookForm, Placeholder

SHELL_ENTRY: Mapping[str, Any] = {
    "type": "command",
    "command": Placeholder.COMMAND,
    "timeout": Placeholder.SECONDS,
}
STDIO_SERVER: Mapping[str, Any] = {
    "type": "stdio",
    "command": Placeholder.PROGRAM,
    "args": Placeholder.ARGUMENTS,
}


def group(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an entry as Claude Code nests it: a matcher, and the list of hooks that it applies to."""
    return {"matcher": Placeholder.MATCHER, "hooks": [entry]}


GROUPS = HookForm(name="groups", layout="lists", entry=group(SHELL_ENTRY))
# Copilot CLI and VS Code read the same files, so the commands in them name one client.
COPILOT_FILE = HookForm(
    name="copilot",
    layout="files",
    entry=SHELL_ENTRY,
    files={"": {"version": 1, "hooks": Placeholder.HOOKS}},
    called_as="copilot",
)
PLUGIN = HookForm(name="bridge", layout="plugin")
