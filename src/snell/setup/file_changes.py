"""
Changes to other people's files, so that nobody loses anything: planned, shown, written whole or not at all, taken back.

For every file that was changed the state directory keeps what stood there before. Taking ours out gives exactly those
bytes back when nobody else touched the file since, and otherwise removes only what is ours.
"""

import hashlib
import os
import stat
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from snell.model.errors import SetupError
from snell.model.installs import FileEdit, Whole
from snell.settings.problems import InvalidValueError
from snell.setup.apply_edits import foreign_hooks, put_in, taken_out
from snell.setup.plan import LONGEST_FILE
from snell.system.files import FileError, file_lock, read_capped, write_atomically
from snell.system.paths import make_private

FOLDERS = "folders.json"  # those that were made for our files


class Change(msgspec.Struct, frozen=True):
    """One file as it is and as it would be; None = no file."""

    file: FileEdit
    before: bytes | None
    after: bytes | None

    @property
    def changes(self) -> bool:
        return self.before != self.after


class Record(msgspec.Struct):
    """What we remember of a file that we changed; the bytes of before stand beside it."""

    path: str
    had_file: bool
    after: str  # digest of what we wrote
    clients: list[str]  # several clients may want the same thing of one file


def plan_change(file: FileEdit) -> Change:
    """What installing would change. Raises SetupError, with the line, where a file cannot be edited."""
    before = _read(Path(file.path))
    return Change(file, before, _edited(file, before))


def plan_removal(file: FileEdit, leaving: Collection[str], state: Path) -> Change:
    """What taking ours out would change once all of these clients are left."""
    before = _read(Path(file.path))
    record = _record(state, _real(file.path))
    if record and set(record.clients) - set(leaving):
        return Change(file, before, before)  # somebody else still needs it
    if record and before is not None and _digest(before) == record.after:
        return Change(file, before, _kept(state, _real(file.path)) if record.had_file else None)
    after = _taken_out(file, before)
    had_file = record is not None and record.had_file
    if after is not None and after != before and not had_file and _holds_nothing(after, file):
        after = None
    return Change(file, before, after)


def install(change: Change, client: str, state: Path) -> None:
    """Write what was planned, unless the file changed meanwhile."""
    real = _real(change.file.path)
    with _held(state), _nicely(real):
        old = _record(state, real)
        if _read(real) == change.after:  # as it is to be: it was so, or another set-up was faster
            _join(state, real, old, client)
            return
        _check_same(real, change)
        record = _next_record(old, change, client, real, state)
        _make_folders(real.parent, state)
        # The record goes first: a crash in between leaves the old file, and a record that matches nothing.
        _save(state, real, record, _original(old, change, state, real))
        _write(real, change.after or b"", _mode(real, change.file))


def uninstall(change: Change, client: str, state: Path) -> None:
    """Write back what was planned, and forget the file."""
    real = _real(change.file.path)
    with _held(state), _nicely(real):
        _check_same(real, change)
        record = _record(state, real)
        if record and (left := [each for each in record.clients if each != client]):
            record.clients = left
            _save(state, real, record, None)
            return
        if change.after is None and change.before is not None:
            _sweep(real)
            os.unlink(real)
        elif change.changes and change.after is not None:
            _write(real, change.after, _mode(real, change.file))
        _forget(state, real)


def foreign(file: FileEdit) -> list[str]:
    """Hooks of others in this file, or beside it where every file of a folder counts."""
    path = Path(file.path)
    if file.format != "whole":
        with _nicely(path):
            return foreign_hooks(_read(path), file)
    if path.suffix == ".json" and path.parent.name == "hooks":
        with suppress(OSError):
            others = sorted(each.name for each in path.parent.glob("*.json") if each.name != path.name)
            return [f"{path.parent / name}" for name in others]
    return []


def _edited(file: FileEdit, before: bytes | None) -> bytes:
    try:
        return put_in(before, file)
    except InvalidValueError as wrong:
        raise _with_line(wrong, file.path) from None


def _taken_out(file: FileEdit, before: bytes | None) -> bytes | None:
    try:
        return taken_out(before, file)
    except InvalidValueError as wrong:
        raise _with_line(wrong, file.path) from None


def _with_line(wrong: InvalidValueError, path: str) -> SetupError:
    return SetupError(wrong.message, where=f"{path}:{wrong.line}", advice=wrong.advice)


def _holds_nothing(data: bytes, file: FileEdit) -> bool:
    """Is only left what we began the file with?"""
    text = data.decode("utf-8-sig", "replace").strip()
    if not text or file.format not in ("json", "jsonc"):
        return not text
    with suppress(msgspec.DecodeError):
        return bool(msgspec.json.decode(text) in ({}, dict(file.start)))
    return False


def _read(path: Path) -> bytes | None:
    try:
        return read_capped(path, LONGEST_FILE)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except FileError as error:
        raise SetupError(error.message, where=error.where, advice="move it away, then run set-up again") from None
    except OSError as error:
        why = error.strerror or str(error)
        raise SetupError(f"cannot be read: {why}", where=f"`{path}`", advice="check its permissions") from None


def _check_same(real: Path, change: Change) -> None:
    if _read(real) != change.before:
        raise SetupError("changed while you were looking at it", where=f"`{real}`", advice="run set-up again")


def _next_record(old: Record | None, change: Change, client: str, real: Path, state: Path) -> Record:
    clients = sorted({*(old.clients if old else ()), client})
    original = _original(old, change, state, real)
    return Record(str(real), original is not None, _digest(change.after or b""), clients)


def _original(old: Record | None, change: Change, state: Path, real: Path) -> bytes | None:
    """What the file would be had we never touched it."""
    if old and change.before is not None and _digest(change.before) == old.after:
        return _kept(state, real) if old.had_file else None
    return _taken_out(change.file, change.before)


def _join(state: Path, real: Path, record: Record | None, client: str) -> None:
    if record and client not in record.clients:
        record.clients = sorted([*record.clients, client])
        _save(state, real, record, None)


def _write(real: Path, data: bytes, mode: int) -> None:
    _sweep(real)
    if real.exists():
        _check_ours(real)
    write_atomically(real, data, mode)


def _sweep(real: Path) -> None:
    """Remove what a set-up that was killed left beside the file."""
    for path in real.parent.glob(f".{real.name}.{'[0-9a-f]' * 16}.tmp"):
        with suppress(OSError):
            path.unlink()


def _check_ours(real: Path) -> None:
    found = os.stat(real)
    if found.st_uid != os.geteuid():
        advice = "run set-up as its owner"
        raise SetupError(f"belongs to another user (uid {found.st_uid})", where=f"`{real}`", advice=advice)
    if not found.st_mode & stat.S_IWUSR:
        raise SetupError("is read-only", where=f"`{real}`", advice="`chmod u+w` it first; nothing was changed")


def _mode(real: Path, file: FileEdit) -> int:
    is_program = any(isinstance(edit, Whole) and edit.executable for edit in file.edits)
    with suppress(OSError):
        return stat.S_IMODE(os.stat(real).st_mode)
    umask = os.umask(0o077)
    os.umask(umask)
    return (0o755 if is_program else 0o644) & ~umask


def _make_folders(folder: Path, state: Path) -> None:
    """Make a folder and those above it, after noting that they are ours: a crash in between must not leave them."""
    missing: list[str] = []
    while not folder.exists():
        missing.append(str(folder))
        folder = folder.parent
    if missing:
        _note_folders(state, sorted({*_noted_folders(state), *missing}))
    for each in reversed(missing):
        os.mkdir(each)


def _remove_folders(state: Path) -> None:
    """Remove the folders that we made and that are empty again, the deepest first."""
    noted = _noted_folders(state)
    for each in sorted(noted, key=len, reverse=True):
        with suppress(OSError):
            os.rmdir(each)
    left = [each for each in noted if os.path.isdir(each)]
    if left != noted:
        _note_folders(state, left)


def _noted_folders(state: Path) -> list[str]:
    try:
        return msgspec.json.decode(read_capped(state / "installs" / FOLDERS, LONGEST_FILE), type=list[str])
    except (OSError, FileError, msgspec.DecodeError):
        return []


def _note_folders(state: Path, folders: list[str]) -> None:
    if not folders:
        with suppress(FileNotFoundError):
            os.unlink(state / "installs" / FOLDERS)
        return
    write_atomically(state / "installs" / FOLDERS, msgspec.json.encode(folders))


def _save(state: Path, real: Path, record: Record, original: bytes | None) -> None:
    folder = _folder(state, real)
    make_private(folder)
    if original is not None:
        write_atomically(folder / "before", original)
    write_atomically(folder / "record.json", msgspec.json.encode(record))


def _forget(state: Path, real: Path) -> None:
    folder = _folder(state, real)
    for name in ("record.json", "before"):
        with suppress(FileNotFoundError):
            os.unlink(folder / name)
    with suppress(OSError):
        os.rmdir(folder)
    _remove_folders(state)


def _record(state: Path, real: Path) -> Record | None:
    try:
        record = msgspec.json.decode(read_capped(_folder(state, real) / "record.json", 1_000_000), type=Record)
    except (OSError, FileError, msgspec.DecodeError):
        return None
    needs = record.had_file and _kept(state, real) is None
    return None if needs else record


def _kept(state: Path, real: Path) -> bytes | None:
    try:
        return read_capped(_folder(state, real) / "before", LONGEST_FILE)
    except (OSError, FileError):
        return None


def _folder(state: Path, real: Path) -> Path:
    return state / "installs" / hashlib.sha256(os.fsencode(real)).hexdigest()[:32]


def _real(path: str) -> Path:
    """Where a link leads: the file behind it is edited, and the link stays."""
    return Path(os.path.realpath(path))


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@contextmanager
def _held(state: Path) -> Iterator[None]:
    """One set-up at a time."""
    make_private(state / "installs")
    with file_lock(state / "installs" / "lock"):
        yield


@contextmanager
def _nicely(path: Path) -> Iterator[None]:
    """The world's troubles with a file, in words."""
    try:
        yield
    except InvalidValueError as wrong:
        raise _with_line(wrong, str(path)) from None
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        advice = "check its permissions and those of its folder; nothing was changed"
        raise SetupError(f"cannot be written: {why}", where=f"`{path}`", advice=advice) from None


def records(state: Path) -> Iterator[Record]:
    """Every file that we changed and have not given back."""
    for path in sorted((state / "installs").glob("*/record.json")):
        with suppress(OSError, FileError, msgspec.DecodeError):
            yield msgspec.json.decode(read_capped(path, 1_000_000), type=Record)
