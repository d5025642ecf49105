"""
Finds the folder in which a tool runs a command, whatever the field is called.

A tool that takes `workdir`, `Cwd` or `dir_path` runs the command there. A tool that takes no such field runs it in the
folder of the event, whatever the agent wrote beside the command. Where it is not known which one applies, both are
returned.
"""

import posixpath
import re
from collections.abc import Iterator
from typing import Any

from snell.model.command_words import value_of_json
from snell.model.tool_names import plain_name

# Clients whose shell, by Claude Code's name for it, is known to run the command in the folder under exactly this key.
READ_KEYS = {"antigravity": "cwd", "codex": "workdir", "gemini": "dir_path", "qwen": "directory"}
SHELL = "Bash"
MOST, DEEPEST = 64, 20
NO_FOLDER_KEYS = frozenset(("command", "description", "timeout", "run_in_background"))  # of most shell calls
_FOLDER_KEY = (
    r"(?:base|cmd|command|current|default|exec|execution|initial|launch|local|process|project|repo|repository|root|run"
    r"|shell|start|starting|target|task|terminal|work|working|workspace)*"
    r"(?:cwd|dir|directory|directories|folder|wd)(?:path|name|uri|s)?"
    r"|(?:base|project|repo|repository|root|work|working|workspace)path|(?:project|repo|workspace)root|chdir|pwd|workspace"
)


def folders_of(given: Any, cwd: str, home: str, client: str = "", tool: str = "") -> tuple[str, ...]:
    """Return every folder in which the command of this input may run, the likeliest first."""
    if not isinstance(given, dict) or given.keys() <= NO_FOLDER_KEYS:
        return (cwd,)
    folders = [_resolve(text, cwd, home) for text in list(dict.fromkeys(_folder_texts(given)))[:MOST]]
    read = given.get(READ_KEYS.get(client, "")) if tool == SHELL else None
    is_known = isinstance(read, str) and bool(read.strip())
    return tuple(dict.fromkeys(folders if is_known else (*folders, cwd)))


def _folder_texts(value: Any, depth: int = 0) -> Iterator[str]:
    """Yield the texts under keys that name a folder."""
    if isinstance(value, str):
        value = value_of_json(value)
    if depth > DEEPEST or not isinstance(value, dict | list):
        return
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        name = plain_name(key) if isinstance(key, str) else ""
        if name and re.fullmatch(_FOLDER_KEY, name):
            yield from _texts(inner)
        else:
            yield from _folder_texts(inner, depth + 1)


def _texts(value: Any) -> Iterator[str]:
    """Return a folder as text, as one of a list, or as an object with its path."""
    inner = value if isinstance(value, list) else list(value.values()) if isinstance(value, dict) else [value]
    return (text for text in inner if isinstance(text, str) and text.strip())


def _resolve(text: str, cwd: str, home: str) -> str:
    path = re.sub(r"^file://(?:localhost)?(?=/)", "", text.strip())
    path = re.sub(r"^(?:~|\$HOME|\$\{HOME\})(?=/|$)", lambda _: home, path)
    return posixpath.normpath(posixpath.join(cwd or "/", path)).replace("//", "/")
