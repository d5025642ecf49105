"""
Find the local files that a script sources, imports or runs, by reading it; nothing is executed.

An approval covers these files, too. What cannot be found by reading is named, so that the user knows what the approval
does not cover: a name that is made at run time, and modules that are installed elsewhere.
"""

import ast
import os
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from snell.shell.command_line import Command
from snell.shell.reader import read
from snell.system.files import text_or_nothing

LONGEST = 256 * 1024  # of a script that is read
MOST_UNKNOWN = 20
_SHELLS = frozenset(("sh", "bash", "dash", "zsh", "ksh", "ash"))
_RUN_FILES = _SHELLS | {"python", "python3", "node", "deno", "bun", "ruby", "perl", "php", "tsx"}
_ENDS = {".py": "python", ".sh": "shell", ".bash": "shell", ".zsh": "shell"}
_ENDS |= dict.fromkeys((".js", ".mjs", ".cjs", ".ts", ".mts", ".cts"), "javascript")
_NAMED_IN_JAVASCRIPT = re.compile(r"""(?:\bfrom|\bimport|\brequire\s*\(|\bimport\s*\()\s*["'](\.{1,2}/[^"'\n]+)["']""")
_IMPORT = re.compile(r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import|import[ \t]+([\w.]+))", re.MULTILINE)
_NO_COMMAND = re.compile(r"^(?:[\w:.-]+: |[ \t]*[@+-]*[ \t]*)", re.MULTILINE)  # `lint: ` of a script, `@` of a recipe
_EXPANSION = re.compile(r"\$\([^()]*\)|\$\{[^{}]*\}|`[^`]*`|\$[\w*@#?-]+")  # without another one in parentheses


# Other files of code that a script names in a string, to load or run them. Data may change from one run to the next.
_NAMED_CODE = re.compile(r"""["']([\w./-]+\.(?:sh|bash|zsh|py|js|mjs|cjs|ts|pl|pm|rb|php|awk|lua))["']""")
_LOADS = re.compile(
    r"\b(importlib|runpy|__import__|exec|eval|subprocess|os\.system|os\.popen|sys\.path|child_process|popen)\b"
)


class ScriptFiles(Struct):
    """What one script uses."""

    files: list[str]
    unknown: list[str]


def files_of_script(path: str, root: Path) -> ScriptFiles:
    """Return the local files that a script uses directly, and what else it uses."""
    found = ScriptFiles([], [])
    text = text_or_nothing(Path(path), LONGEST)
    language = _language(path, text)
    if language == "python":
        _read_python(text, os.path.dirname(path), found)
    elif language == "shell":
        _read_shell(text, [os.path.dirname(path), str(root)], found)
    elif language == "javascript":
        for name in _NAMED_IN_JAVASCRIPT.findall(text):
            ends = ("", *_ENDS, ".json", "/index.js", "/index.ts")
            _add(found, name, (os.path.join(os.path.dirname(path), name + end) for end in ends))
    if language != "shell":
        _read_strings(text, [os.path.dirname(path), str(root)], found)
    found.unknown = list(dict.fromkeys(found.unknown))[:MOST_UNKNOWN]
    return found


def files_of_recipe(text: str, folders: list[str]) -> list[str]:
    """Return the local files that the text of a target or of a package's script runs."""
    found = ScriptFiles([], [])
    _read_shell(_NO_COMMAND.sub("", text).replace("$(shell ", "$("), folders, found)
    return found.files


def _read_strings(text: str, folders: list[str], found: ScriptFiles) -> None:
    """Add code that a script names in a string; say by which means it loads or runs something else."""
    for name in _NAMED_CODE.findall(text):
        paths = [os.path.normpath(os.path.join(folder, name)) for folder in folders]
        found.files += [path for path in paths if os.path.isfile(path)]
    found.unknown += [f"what it loads or runs by `{name}`" for name in dict.fromkeys(_LOADS.findall(text))]


def _language(path: str, text: str) -> str:
    first = text.partition("\n")[0] if text.startswith("#!") else ""
    if not first:
        return _ENDS.get(os.path.splitext(path)[1].lower(), "")
    names = [os.path.basename(word) for word in first[2:].split()]
    name = next((name for name in names if name != "env" and not name.startswith("-") and "=" not in name), "")
    if name.startswith("python"):
        return "python"
    return "shell" if name in _SHELLS else "javascript" if name in ("node", "deno", "bun", "tsx") else ""


def _add(found: ScriptFiles, name: str, candidates: Iterator[str]) -> None:
    existing = next((os.path.normpath(path) for path in candidates if os.path.isfile(path)), None)
    if existing:
        found.files.append(existing)
    else:
        found.unknown.append(name)


def _read_python(text: str, folder: str, found: ScriptFiles) -> None:
    imports = list(_imports(text))
    if imports:
        found.unknown.append("modules that are added beside it")
    for level, module in imports:
        start = os.path.normpath(os.path.join(folder, *[os.pardir] * (level - 1))) if level else folder
        parts = module.split(".") if module else []
        local = [path for path in _module_files(start, parts) if os.path.isfile(path)]
        found.files += local
        if not local and not level and parts[0] not in sys.stdlib_module_names:
            found.unknown.append(f"module {parts[0]}")


def _imports(text: str) -> Iterator[tuple[int, str]]:
    """Yield how many folders up an import starts, and its dotted name; the last part may be no module."""
    tree = None
    with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
        tree = ast.parse(text)
    if tree is None:
        yield from ((0, name) for pair in _IMPORT.findall(text) for name in pair if name)
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((0, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" if node.module else alias.name for alias in node.names]
            yield from ((node.level, name) for name in names)


def _module_files(folder: str, parts: list[str]) -> Iterator[str]:
    """Yield the files that Python runs for a dotted name: every package on the way, and the module."""
    for number in range(1, len(parts) + 1):
        path = os.path.join(folder, *parts[:number])
        yield from (f"{path}.py", os.path.join(path, "__init__.py"))


def _read_shell(text: str, folders: list[str], found: ScriptFiles) -> None:
    for command in read(text).commands:
        for layer in command.layers:
            if raw := _used_word(layer):
                word = _end_of(raw)  # what a variable gives is taken for a folder of the script or of the project
                paths = (os.path.join(folder, word.lstrip("/") if raw != word else word) for folder in folders)
                _add(found, raw, paths)


def _used_word(command: Command) -> str:
    """Return the word that names the file which a command sources or runs, as it is written."""
    if not command.words:
        return ""
    place = 0
    if command.words[0] in (".", "source") or command.program.rstrip("0123456789.") in _RUN_FILES:
        options = (number for number, word in enumerate(command.words) if number and not word.startswith("-"))
        place = next(options, 0)
        if not place or "-c" in command.words[1:place] or "-m" in command.words[1:place]:
            return ""
    start, end = command.spans[place]
    raw = command.text[start:end].replace('"', "").replace("'", "")
    return raw if place or "/" in raw else ""


def _end_of(raw: str) -> str:
    """Return what follows the last value that only run time knows, such as `/lib.sh` of `$folder/lib.sh`."""
    while (shorter := _EXPANSION.sub("\0", raw)) != raw:  # from the inside out: `$(cd $(dirname $0) && pwd)/lib.sh`
        raw = shorter
    return raw.rpartition("\0")[2]
