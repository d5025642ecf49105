"""Digests of files, remembered for as long as a file stays as it was."""

from pathlib import Path
from typing import TypeVar

from snell.settings.digests import digest_of_bytes
from snell.settings.file_watch import FileStamp, Stamp, is_settled, stamp_of, watch_file
from snell.system.files import FileError, read_capped

LONGEST_PINNED = 64 * 1024 * 1024
FILES = 2_048  # how many files are remembered; beyond that, those that were asked for last


T = TypeVar("T")


class FileDigests:
    """Keep one for as long as settings are loaded again and again; it makes a reload cost a few `stat` calls."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Stamp, str]] = {}
        self._seen: dict[str, FileStamp] = {}

    def of(self, path: str) -> str:
        """The digest of a file's bytes; a reason in angle brackets, which no digest equals, when there is none."""
        stamp = stamp_of(path)
        _put(self._seen, path, FileStamp(path, stamp, is_settled(stamp)))
        known = self._known.get(path)
        if known and known[0] == stamp:
            _put(self._known, path, known)
            return known[1]
        try:
            found = digest_of_bytes(read_capped(Path(path), LONGEST_PINNED))
        except FileError:
            return "<too long>"
        except (OSError, ValueError):
            return "<unreadable>"
        if stamp and is_settled(stamp) and stamp_of(path) == stamp:
            _put(self._known, path, (stamp, found))
        return found

    def stamp(self, path: str) -> FileStamp:
        """The file as it was just before its digest was taken, so that a later change is noticed."""
        return self._seen.get(path) or watch_file(path)


def _put(remembered: dict[str, T], path: str, value: T) -> None:
    """Put the value last, and forget the first one where there are too many."""
    remembered.pop(path, None)
    remembered[path] = value
    if len(remembered) > FILES:
        del remembered[next(iter(remembered))]
