"""Read and write the files of an effort in its task's directory; names begin with its ordinal: `1_FIX_LOG.md`."""

import contextlib
import errno
import os
import re
import stat
import time
from typing import Any

from snell.system.files import names_in
from snell.system.lazy_regex import lazy_regex
from snell.work.errors import WorkError
from snell.work.rows import Record

_FLAGS = os.O_NONBLOCK | os.O_CLOEXEC
MOST_FOUND = 200
_HEADING = lazy_regex(r"^## +(.+)$", re.MULTILINE)


def path_of(effort: Record, kind: str) -> str:
    """Return the path of the effort's log, plan or debrief."""
    name = "_".join(filter(None, (str(effort["ordinal"]), _plain(effort["skill"]), _plain(kind))))
    return os.path.join(effort["taskId"], f"{name}.md")


def stamp_heading(text: str, seconds: float | None = None) -> str:
    """Return the text with the time in its first second-level heading, or under a new heading."""
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(seconds))
    if _HEADING.search(text):
        return _HEADING.sub(lambda found: f"## [{when} UTC] {found[1]}", text, count=1)
    return f"## [{when} UTC]\n{text}"


def append(path: str, text: str) -> int:
    """Append to a file and create its directory if needed; returns the number of bytes. Never follows a link."""
    data = (text.rstrip("\n") + "\n\n").encode("utf-8", "replace")
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | _FLAGS, 0o644)
        with os.fdopen(descriptor, "ab") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise OSError(errno.EINVAL, "it is not a file")
            file.write(data)
    except OSError as error:
        message = f"`{path}` cannot be written: {error.strerror}"
        raise WorkError("COMMAND_ERROR", message, advice="check the task's directory") from None
    return len(data)


def files_of_effort(effort: Record) -> list[str]:
    """Return the effort's Markdown files by name; none if the directory does not exist."""
    ordinal = f"{effort['ordinal']}_"
    return [path for path in markdown_files(effort["taskId"]) if os.path.basename(path).startswith(ordinal)]


def markdown_files(folder: str) -> list[str]:
    paths = (os.path.join(folder, name) for name in sorted(names_in(folder))[:MOST_FOUND] if name.endswith(".md"))
    return [path for path in paths if os.path.isfile(path) and not os.path.islink(path)]


def renumber(effort: Record, ordinal: int) -> None:
    """Rename the effort's files to another ordinal; a file whose new name exists keeps its name."""
    before = f"{effort['ordinal']}_{_plain(effort['skill'])}_"
    for path in markdown_files(effort["taskId"]):
        folder, name = os.path.split(path)
        if name.startswith(before):
            with contextlib.suppress(OSError):
                os.link(path, os.path.join(folder, f"{ordinal}_{name.partition('_')[2]}"), follow_symlinks=False)
                os.unlink(path)


def read_text(path: Any, most: int) -> str:
    """Return the beginning of a regular file; empty if it cannot be read. Never blocks."""
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | _FLAGS), "rb") as file:
            return file.read(most).decode("utf-8", "replace") if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else ""
    except (OSError, ValueError, TypeError):
        return ""


def _plain(text: str) -> str:
    return "".join(letter if letter.isalnum() else "_" for letter in text).strip("_").upper()
