"""
The tools of an agent hook: Read, Grep and Glob, inside the project and the session's transcript only.

Every path is resolved before it is opened, so that no link leads out of the project; results are redacted.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import regex

from snell.llm.messages import Tool, ToolCall
from snell.redact import redact_data
from snell.system.deadline import Deadline
from snell.system.transcripts import is_readable

MOST_CHARACTERS = 20_000  # of one result
MOST_LINES = 400
_MOST_BYTES = 2_000_000
_MOST_FILES = 20_000
_SKIPPED = frozenset({".git", "node_modules", ".venv", "__pycache__", ".hg", ".svn"})
TOOLS = msgspec.json.decode(Path(__file__).with_suffix(".json").read_bytes(), type=tuple[Tool, ...])


class ToolError(Exception):
    """The message for the model when a tool has no result."""


class ReadingTools:
    def __init__(self, project_dir: str, transcript: str, deadline: Deadline) -> None:
        self._root = os.path.realpath(project_dir) if project_dir else ""
        self._transcript = os.path.realpath(transcript) if transcript and is_readable(transcript) else ""
        self._deadline = deadline
        self._run: dict[str, Callable[[dict[str, Any]], str]] = {
            "Read": self._read,
            "Grep": self._grep,
            "Glob": self._glob,
        }

    def result(self, call: ToolCall) -> str:
        """Run a tool and return its result, or the reason why there is none."""
        tool = self._run.get(call.name)
        if not tool:
            return f"there is no tool `{call.name[:40]}`; use one of {', '.join(self._run)}"
        try:
            return tool(call.input)[:MOST_CHARACTERS] or "nothing found"
        except ToolError as error:
            return str(error)
        except (OSError, ValueError) as error:
            return f"that cannot be read: {error}"

    def _read(self, given: dict[str, Any]) -> str:
        path = self._inside(_text(given, "file_path"))
        lines = self._content(path).splitlines()
        offset, limit = max(_number(given, "offset", 1), 1), _number(given, "limit", MOST_LINES)
        chosen = lines[offset - 1 : offset - 1 + min(max(limit, 1), MOST_LINES)]
        return "\n".join(f"{number}: {line}" for number, line in enumerate(chosen, offset))

    def _grep(self, given: dict[str, Any]) -> str:
        try:
            pattern = regex.compile(_text(given, "pattern"))
        except regex.error as error:
            raise ToolError(f"the pattern is not a regular expression: {error}") from None
        found: list[str] = []
        for path in self._files(given, _text(given, "glob", "")):
            name = os.path.relpath(path, self._root) if self._is_in_project(path) else path
            for number, line in enumerate(self._lines_of(path), 1):
                if self._matches(pattern.search, line):
                    found.append(f"{name}:{number}: {line[:300]}")
                if len(found) >= MOST_LINES:
                    return "\n".join(found)
        return "\n".join(found)

    def _glob(self, given: dict[str, Any]) -> str:
        files = self._files(given, _text(given, "pattern"))
        return "\n".join(os.path.relpath(path, self._root) for path, _ in zip(files, range(MOST_LINES), strict=False))

    def _matches(self, look: Callable[..., Any], text: str) -> bool:
        try:
            return look(text[:10_000], timeout=min(0.5, self._deadline.remaining())) is not None
        except TimeoutError:
            raise ToolError("the pattern takes too long; use a simpler one") from None

    def _files(self, given: dict[str, Any], glob: str) -> Iterator[str]:
        start = self._inside(_text(given, "path", "") or self._root)
        if os.path.isfile(start):
            yield start
            return
        fits = _glob_pattern(glob) if glob else None
        seen = 0
        for folder, folders, names in os.walk(start):
            self._deadline.remaining()
            folders[:] = sorted(name for name in folders if name not in _SKIPPED)
            for name in sorted(names):
                seen += 1
                self._deadline.remaining()
                path = os.path.join(folder, name)
                if seen > _MOST_FILES:
                    return
                is_match = fits is None or self._matches(fits.fullmatch, os.path.relpath(path, start))
                if is_match and self._is_in_project(os.path.realpath(path)):
                    yield path

    def _lines_of(self, path: str) -> list[str]:
        try:
            return self._content(path).splitlines()
        except (OSError, ToolError):
            return []

    def _content(self, path: str) -> str:
        if not os.path.isfile(path):
            raise ToolError("that is not a file")
        with open(path, "rb") as file:
            data = file.read(_MOST_BYTES + 1)
        if b"\0" in data[:8_000]:
            raise ToolError("that is not a text file")
        self._deadline.remaining()
        text = data[:_MOST_BYTES].decode("utf-8", "replace")
        return str(redact_data({"file_path": path, "content": text})["content"])

    def _inside(self, path: str) -> str:
        real = os.path.realpath(os.path.join(self._root or os.sep, path))
        if self._is_in_project(real) or (self._transcript and real == self._transcript):
            return real
        raise ToolError(f"`{path[:200]}` is outside of the project")

    def _is_in_project(self, real: str) -> bool:
        return bool(self._root) and (real == self._root or real.startswith(self._root.rstrip(os.sep) + os.sep))


def _text(given: dict[str, Any], name: str, default: str | None = None) -> str:
    value = given.get(name, default)
    if not isinstance(value, str) or "\0" in value or len(value) > 4_000:
        raise ToolError(f"`{name}` must be text")
    return value


def _number(given: dict[str, Any], name: str, default: int) -> int:
    value = given.get(name, default)
    return value if isinstance(value, int) and not isinstance(value, bool) else default


def _glob_pattern(glob: str) -> "regex.Pattern[str]":
    """Compile a glob: only `**` matches slashes; a pattern without a slash matches names in any folder."""
    glob = glob if "/" in glob else f"**/{glob}"
    parts = regex.split(r"(\*\*/|\*\*|\*|\?)", glob.removeprefix("./"))
    meaning = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return regex.compile("".join(meaning.get(part) or regex.escape(part) for part in parts), regex.DOTALL)
