"""
Record what judging looks at on the disk.

A judgement may be cached for as long as the same lookups would have the same results. Reading git's index or following
a link cannot be repeated cheaply, so such a judgement is not cached.
"""

import os
import posixpath
import stat
import threading

from snell.packs.guard.known_values import UNKNOWN

MISSING, PLAIN, LINK = "missing", "plain", "link"
LONG_PATH = 1_000  # characters; longer ones are words of any kind, and are not remembered
MOST_LOOKUPS = 100
MOST_SCRIPTS, LARGEST_SCRIPT = 6, 65_536


class Lookups:
    """The paths that were looked up, each with its kind. As a context it records the lookups of this thread."""

    def __init__(self) -> None:
        self.kinds: dict[str, str] = {}
        self.stamps: dict[str, tuple[int, ...]] = {}  # of files that were read: size, time of the change, number
        self.contents: dict[str, bytes] | None = None  # what else was read, which cannot be compared cheaply
        self.unlinked: set[str] = set()  # absolute paths with no link on their way
        self.unread: dict[str, str] = {}  # scripts that would run and were not read completely, with the reason

    def __enter__(self) -> "Lookups":
        _thread.lookups, _thread.is_recording = self, True
        return self

    def __exit__(self, *_error: object) -> None:
        _thread.is_recording = False

    @property
    def are_complete(self) -> bool:
        """Tell whether the kinds of these paths are all that the judgement depends on."""
        return self.contents is None and len(self.kinds) <= MOST_LOOKUPS and LINK not in self.kinds.values()

    def are_current(self) -> bool:
        """Tell whether every path is still of the same kind, and every file that was read unchanged."""
        is_same = all(_kind(path) == kind for path, kind in self.kinds.items())
        return is_same and (not self.stamps or all(_stamp(path) == stamp for path, stamp in self.stamps.items()))


class _Thread(threading.local):
    def __init__(self) -> None:
        self.lookups, self.is_recording = Lookups(), False


_thread = _Thread()  # avoids an argument in every function between the cache and the lookup


def absolute_path(path: str, folder: str) -> str:
    """Return the path from the root; one that starts with an unknown part stays as it is."""
    if not path.startswith(("/", UNKNOWN)):
        path = f"{folder}/{path}"
    is_plain = path[0] == "/" and "/." not in path and "//" not in path and path[-1] != "/"
    return path if is_plain else posixpath.normpath(path).replace("//", "/")


def path_kind(path: str) -> str:
    """Return whether the path is a link, something else, or missing."""
    kinds = _thread.lookups.kinds
    kind = kinds.get(path)
    if kind is None:
        kind = kinds[path] = _kind(path)
    return kind


def unlinked_paths() -> set[str]:
    """Return the paths that were found to have no link on their way, while this line is judged."""
    return _thread.lookups.unlinked


def read_script(path: str) -> str:
    """Return the text of a script on the disk; empty if it is missing, no text, or read after too many others."""
    stamps, unread = _thread.lookups.stamps, _thread.lookups.unread
    if path not in stamps and len(stamps) >= MOST_SCRIPTS:
        unread[path] = f"it comes after {MOST_SCRIPTS} other scripts"
        return ""
    stamps[path] = _stamp(path)
    if not stamps[path]:
        return ""
    try:
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
            data = file.read(LARGEST_SCRIPT) or b""  # nothing where a file of the kernel would wait
    except OSError as error:
        unread[path] = (error.strerror or "it cannot be opened").lower()
        mark_unrepeatable()  # it may be opened later, without another size or time
        return ""
    if len(data) < stamps[path][0]:
        unread[path] = f"it is larger than {LARGEST_SCRIPT // 1024} KB"
    if b"\0" not in data:
        return data.decode("utf-8", "replace")
    unread[path] = "it is no text"
    if data.startswith(_COMPILED):
        del unread[path]  # a program, as the rest of the system: there is nothing to read in it
    return ""


_COMPILED = (b"\x7fELF", b"MZ", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"\xce\xfa\xed\xfe")


def note_unread(path: str, why: str) -> None:
    """Note that a script was read, and not understood to its end."""
    _thread.lookups.unread.setdefault(path, why)


def unread_scripts() -> tuple[str, ...]:
    """Return what to say about scripts that the judged line would run and that were not read completely."""
    unread = _thread.lookups.unread.items()
    return tuple([f"the script `{path}` was not read completely: {why}" for path, why in unread])


def _stamp(path: str) -> tuple[int, ...]:
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return ()
    return (found.st_size, found.st_mtime_ns, found.st_ino) if stat.S_ISREG(found.st_mode) else ()


def forget_lookups() -> None:
    """Look at the disk again from here on: what was looked up for one line may be out of date for the next."""
    if not _thread.is_recording:
        _thread.lookups = Lookups()


def mark_unrepeatable() -> dict[str, bytes]:
    """Say that more is read than the kind of a path; returns what was read for the line that is judged."""
    if _thread.lookups.contents is None:
        _thread.lookups.contents = {}
    return _thread.lookups.contents


def _kind(path: str) -> str:
    try:
        return LINK if stat.S_ISLNK(os.lstat(path).st_mode) else PLAIN
    except (OSError, ValueError):
        return MISSING
