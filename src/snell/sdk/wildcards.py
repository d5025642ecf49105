"""
Matches text and paths against simple wildcards, in time that grows linearly with the text.

In text `*` is any sequence of characters, and `\\*` is an asterisk. In paths `*` and `?` stay within one folder or file
name, and `**` is any number of folders.
"""

from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from posixpath import normpath

from snell.system.lazy_regex import lazy_regex

_NOT_STAR = lazy_regex(r"\\([*\\])|[?\[]")
_DRIVE = lazy_regex(r"[A-Za-z]:[\\/]")


def text_matches(pattern: str, text: str) -> bool:
    """Return whether the pattern describes the complete text."""
    # Brackets make a character an ordinary one for `fnmatch`, whose patterns never search the same text twice.
    return fnmatchcase(text, _NOT_STAR.sub(lambda found: f"[{found[1] or found[0]}]", pattern))


def path_matches(pattern: str, path: str, *, cwd: str = "", home: str = "") -> bool:
    """
    Return whether the pattern describes the path, or a folder that it is in.

    A pattern without a slash names a file or folder anywhere. `//x` is absolute, `~/x` is in the home folder, and
    `/x`, `./x` and `a/x` are in the working folder. Where that folder is not known, the pattern may start anywhere.
    """
    given = _segments(_absolute(path, cwd, home))
    base, wanted = _anchor(pattern.strip(), cwd, home)
    if wanted and ("*" not in wanted[-1] and "?" not in wanted[-1]):
        wanted = [*wanted, "**"]
    if base is None:
        return _row_matches(["**", *wanted], given, _segment_matches)
    return given[: len(base)] == base and _row_matches(wanted, given[len(base) :], _segment_matches)


def _absolute(path: str, cwd: str, home: str) -> str:
    path, cwd, home = _with_slashes(path), _with_slashes(cwd), _with_slashes(home)
    if path.startswith("~/") and home:
        path = f"{home}/{path[2:]}"
    elif cwd and not path.startswith("/") and not _DRIVE.match(path):
        path = f"{cwd}/{path}"
    return normpath(path)


def _with_slashes(path: str) -> str:
    return path.replace("\\", "/") if _DRIVE.match(path) else path


def _anchor(pattern: str, cwd: str, home: str) -> tuple[list[str] | None, list[str]]:
    """Return the folder that the pattern starts from (None: any) and the pattern's own segments."""
    if pattern.startswith("//"):
        return [], _segments(pattern)
    if pattern.startswith("~/"):
        return (_segments(_with_slashes(home)) if home else None), _segments(pattern[2:])
    if "/" not in pattern.rstrip("/"):
        return None, _segments(pattern)
    wanted = _segments(pattern)
    if not cwd:
        return None, [segment for segment in wanted if segment != ".."]
    base = _segments(normpath(_with_slashes(cwd)))
    while wanted and wanted[0] == "..":
        base, wanted = base[:-1], wanted[1:]
    return base, wanted


def _segments(path: str) -> list[str]:
    return [segment for segment in path.split("/") if segment not in ("", ".")]


def _segment_matches(pattern: str, name: str) -> bool:
    return _row_matches(pattern, name, lambda wanted, given: wanted in ("?", given), many="*")


def _row_matches(
    pattern: Sequence[str], row: Sequence[str], matches: Callable[[str, str], bool], many: str = "**"
) -> bool:
    """Compare segment by segment; on a mismatch, the last `many` takes one segment more. Nothing else is retried."""
    at = index = 0
    retry_at, retry_index = -1, 0
    while index < len(row):
        if at < len(pattern) and pattern[at] == many:
            retry_at, retry_index = at, index
            at += 1
        elif at < len(pattern) and matches(pattern[at], row[index]):
            at, index = at + 1, index + 1
        elif retry_at >= 0:
            retry_index += 1
            at, index = retry_at + 1, retry_index
        else:
            return False
    return all(piece == many for piece in pattern[at:])
