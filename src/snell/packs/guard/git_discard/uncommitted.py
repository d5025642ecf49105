"""Look up which files differ from the last commit, and what the commit has of them."""

from collections.abc import Sequence
from functools import partial

from snell.model.errors import HookError
from snell.system.git_readonly import ask_git, filter_names

UNMERGED, UNTRACKED = "unmerged", "untracked"


def uncommitted_files(folder: str, names: Sequence[str], limit: float) -> dict[str, str] | None:
    """
    Return the files that git does not have as they are, with the id of their content in the last commit.

    The id is empty if the file is not in the last commit. In its place is UNTRACKED where git does not track the file,
    and UNMERGED after a merge that did not settle it.
    None if there is no git, no repository or no reply within the limit for each question in seconds.
    """
    ask = partial(ask_git, folder)
    try:
        top = (ask("rev-parse", "--show-toplevel", limit=limit) or "").rstrip("\n")
        filters = filter_names(ask("config", "--list", "--name-only", "-z", limit=limit))
        if not top or filters is None:
            return None
        status = ("status", "--porcelain=v2", "-z", "--no-renames", "--untracked-files=all", "--ignore-submodules=none")
        rows = ask(*status, "--", *names, off=filters, limit=limit)
    except HookError:
        return None
    return None if rows is None else dict(_content_of(row, top) for row in rows.split("\0") if row)


def _content_of(row: str, top: str) -> tuple[str, str]:
    """Return path and id of a row of `git status`: `1 .M N... 100644 100644 100644 ID ID path`, or `? path`."""
    kind, count = {"1": ("", 8), "u": (UNMERGED, 10)}.get(row[0], (UNTRACKED, 1))
    words = row.split(" ", count)
    return f"{top}/{words[-1]}", kind or (words[6] if words[6].strip("0") else "")
