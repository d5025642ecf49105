"""Files of an effort, in its task's directory. Their names begin with the effort's ordinal: `1_BRAINSTORM_LOG.md`."""

import contextlib
import errno
import os
import re
import stat
import time
from typing import Any

from snell.work.errors import WorkError
from snell.work.rows import Record

_KIND = os.O_NONBLOCK | os.O_CLOEXEC
MOST_FOUND = 200
_HEADING = re.compile(r"^## +(.+)$", re.MULTILINE)


def path_of(effort: Record, kind: str) -> str:
    """Where the effort keeps its log, plan or debrief."""
    name = "_".join(filter(None, (str(effort["ordinal"]), _plain(effort["skill"]), _plain(kind))))
    return os.path.join(effort["taskId"], f"{name}.md")


def stamp_heading(text: str, seconds: float | None = None) -> str:
    """The text with the time in its first second-level heading, or under a heading of its own."""
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(seconds))
    if _HEADING.search(text):
        return _HEADING.sub(lambda found: f"## [{when} UTC] {found[1]}", text, count=1)
    return f"## [{when} UTC]\n{text}"


def append(path: str, text: str) -> int:
    """Add to a file, with its directory if need be; returns how many bytes. Never follows a link."""
    data = (text.rstrip("\n") + "\n\n").encode("utf-8", "replace")
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | _KIND, 0o644)
        with os.fdopen(descriptor, "ab") as file:
            _require_file(descriptor)
            file.write(data)
    except OSError as error:
        message = f"`{path}` cannot be written: {error.strerror}"
        raise WorkError("COMMAND_ERROR", message, advice="check the task's directory") from None
    return len(data)


def found_for(effort: Record) -> list[str]:
    """The effort's markdown files, by name; none when the directory is gone."""
    return [path for path in found_in(effort["taskId"]) if os.path.basename(path).startswith(f"{effort['ordinal']}_")]


def found_in(folder: str) -> list[str]:
    try:
        names = sorted(os.listdir(folder))[:MOST_FOUND]
    except OSError:
        return []
    return [path for name in names if name.endswith(".md") and _is_file(path := os.path.join(folder, name))]


def renumber(effort: Record, ordinal: int) -> None:
    """Its files follow when an effort gets another ordinal; what is in the way of one stays, and so does the file."""
    before = f"{effort['ordinal']}_{_plain(effort['skill'])}_"
    for path in found_in(effort["taskId"]):
        folder, name = os.path.split(path)
        if name.startswith(before):
            with contextlib.suppress(OSError):
                os.link(path, os.path.join(folder, f"{ordinal}_{name.partition('_')[2]}"), follow_symlinks=False)
                os.unlink(path)


def text_of(path: Any, most: int) -> str:
    """The beginning of a file; empty when it cannot be read. Never waits for what is no file."""
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | _KIND), "rb") as file:
            return file.read(most).decode("utf-8", "replace") if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else ""
    except (OSError, ValueError, TypeError):
        return ""


def _require_file(descriptor: int) -> None:
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        raise OSError(errno.EINVAL, "it is not a file")


def _is_file(path: str) -> bool:
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False


def _plain(text: str) -> str:
    return "".join(letter if letter.isalnum() else "_" for letter in text).strip("_").upper()
