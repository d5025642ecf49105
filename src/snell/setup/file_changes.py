"""
Plan changes to configuration files, write each file atomically, and undo the changes.

The state directory keeps the original of every changed file. Uninstalling restores exactly those bytes if the file has
not changed since, and otherwise removes only Snell's entries.
"""

import hashlib
import os
import stat
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from snell.model.errors import SetupError
from snell.model.installs import FileEdit, OwnFile
from snell.settings.value_tree import InvalidValueError
from snell.setup.apply_edits import insert_edits, other_hooks, remove_edits
from snell.setup.plan import LONGEST_FILE
from snell.system.files import FileError, bytes_or_none, file_lock, read_capped, struct_or_none, write_atomically
from snell.system.paths import make_private

FOLDERS = "folders.json"  # the folders that set-up made


class Change(msgspec.Struct, frozen=True):
    """The bytes of a file before and after a change; None: no such file."""

    file: FileEdit
    before: bytes | None
    after: bytes | None

    @property
    def changes(self) -> bool:
        return self.before != self.after


class Record(msgspec.Struct):
    """A file that set-up changed. Its original is kept beside this record."""

    path: str
    had_file: bool
    after: str  # digest of what set-up wrote
    clients: list[str]  # those that use the file; some clients share one


def plan_change(file: FileEdit) -> Change:
    """Return what installing would change. Raises SetupError, with the line, for a file that cannot be edited."""
    before = _read(Path(file.path))
    with _named_errors(file.path):
        return Change(file, before, insert_edits(before, file))


def plan_removal(file: FileEdit, leaving: Collection[str], state: Path) -> Change:
    """Return what removing Snell would change; `leaving` are all clients from which it is removed."""
    before = _read(Path(file.path))
    record = _record_of(state, _real(file.path))
    if record and set(record.clients) - set(leaving):
        return Change(file, before, before)  # another client still uses it
    if record and before is not None and _digest(before) == record.after:
        return Change(file, before, _original_of(state, _real(file.path)) if record.had_file else None)
    with _named_errors(file.path):
        after = remove_edits(before, file)
    had_file = record is not None and record.had_file
    if after is not None and after != before and not had_file and _is_empty(after, file):
        after = None
    return Change(file, before, after)


def install(change: Change, client: str, state: Path) -> None:
    """Write a planned change. Raises SetupError if the file changed since it was planned."""
    real = _real(change.file.path)
    with _setup_lock(state), _named_errors(real):
        old = _record_of(state, real)
        if _read(real) == change.after:  # no change needed, or another set-up was faster
            if old and client not in old.clients:
                old.clients = sorted([*old.clients, client])
                _save(state, real, old, None)
            return
        _check_unchanged(real, change)
        clients = sorted({*(old.clients if old else ()), client})
        original = _original(old, change, state, real)
        record = Record(str(real), original is not None, _digest(change.after or b""), clients)
        _make_folders(real.parent, state)
        # The record is written first: a crash in between leaves the old file, and a record that matches no file.
        _save(state, real, record, original)
        _write(real, change.after or b"", _mode(real, change.file))


def uninstall(change: Change, client: str, state: Path) -> None:
    """Write a planned removal, and delete the record of the file."""
    real = _real(change.file.path)
    with _setup_lock(state), _named_errors(real):
        _check_unchanged(real, change)
        record = _record_of(state, real)
        if record and (left := [each for each in record.clients if each != client]):
            record.clients = left
            _save(state, real, record, None)
            return
        if change.after is None and change.before is not None:
            _remove_leftovers(real)
            os.unlink(real)
        elif change.changes and change.after is not None:
            _write(real, change.after, _mode(real, change.file))
        _delete_record(state, real)


def find_other_hooks(file: FileEdit) -> list[str]:
    """Return hooks that are not Snell's: in this file, or in the files beside it if the client reads the folder."""
    path = Path(file.path)
    if file.format != "own file":
        with _named_errors(path):
            return other_hooks(_read(path), file)
    if path.suffix == ".json" and path.parent.name == "hooks":
        with suppress(OSError):
            others = sorted(each.name for each in path.parent.glob("*.json") if each.name != path.name)
            return [f"{path.parent / name}" for name in others]
    return []


def _is_empty(data: bytes, file: FileEdit) -> bool:
    """Return whether the file holds no more than what set-up began it with."""
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
        raise SetupError(error.message, where=error.where, advice="move it elsewhere, then run set-up again") from None
    except OSError as error:
        why = error.strerror or str(error)
        raise SetupError(f"cannot be read: {why}", where=f"`{path}`", advice="check its permissions") from None


def _check_unchanged(real: Path, change: Change) -> None:
    if _read(real) != change.before:
        raise SetupError("changed since the plan was shown", where=f"`{real}`", advice="run set-up again")


def _original(old: Record | None, change: Change, state: Path, real: Path) -> bytes | None:
    """Return the file as it would be if set-up had never changed it."""
    if old and change.before is not None and _digest(change.before) == old.after:
        return _original_of(state, real) if old.had_file else None
    return remove_edits(change.before, change.file)


def _write(real: Path, data: bytes, mode: int) -> None:
    _remove_leftovers(real)
    if real.exists():
        _check_owner_and_mode(real)
    write_atomically(real, data, mode)


def _remove_leftovers(real: Path) -> None:
    """Remove temporary files that a killed set-up left beside the file."""
    for path in real.parent.glob(f".{real.name}.{'[0-9a-f]' * 16}.tmp"):
        with suppress(OSError):
            path.unlink()


def _check_owner_and_mode(real: Path) -> None:
    found = os.stat(real)
    if found.st_uid != os.geteuid():
        advice = "run set-up as its owner"
        raise SetupError(f"belongs to another user (uid {found.st_uid})", where=f"`{real}`", advice=advice)
    if not found.st_mode & stat.S_IWUSR:
        raise SetupError(
            "is read-only", where=f"`{real}`", advice="make it writable with `chmod u+w`; nothing was changed"
        )


def _mode(real: Path, file: FileEdit) -> int:
    is_program = any(isinstance(edit, OwnFile) and edit.executable for edit in file.edits)
    with suppress(OSError):
        return stat.S_IMODE(os.stat(real).st_mode)
    umask = os.umask(0o077)
    os.umask(umask)
    return (0o755 if is_program else 0o644) & ~umask


def _make_folders(folder: Path, state: Path) -> None:
    """Make a folder and its parents, recorded first: uninstalling removes them even after a crash in between."""
    missing: list[str] = []
    while not folder.exists():
        missing.append(str(folder))
        folder = folder.parent
    if missing:
        _record_folders(state, sorted({*_recorded_folders(state), *missing}))
    for each in reversed(missing):
        os.mkdir(each)


def _remove_folders(state: Path) -> None:
    """Remove the folders that set-up made and that are empty now, the deepest first."""
    recorded = _recorded_folders(state)
    for each in sorted(recorded, key=len, reverse=True):
        with suppress(OSError):
            os.rmdir(each)
    left = [each for each in recorded if os.path.isdir(each)]
    if left != recorded:
        _record_folders(state, left)


def _recorded_folders(state: Path) -> list[str]:
    return struct_or_none(state / "installs" / FOLDERS, list[str], LONGEST_FILE) or []


def _record_folders(state: Path, folders: list[str]) -> None:
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


def _delete_record(state: Path, real: Path) -> None:
    folder = _folder(state, real)
    for name in ("record.json", "before"):
        with suppress(FileNotFoundError):
            os.unlink(folder / name)
    with suppress(OSError):
        os.rmdir(folder)
    _remove_folders(state)


def _record_of(state: Path, real: Path) -> Record | None:
    record = struct_or_none(_folder(state, real) / "record.json", Record, LONGEST_FILE)
    is_incomplete = record and record.had_file and _original_of(state, real) is None
    return None if is_incomplete else record


def _original_of(state: Path, real: Path) -> bytes | None:
    return bytes_or_none(_folder(state, real) / "before", LONGEST_FILE)


def _folder(state: Path, real: Path) -> Path:
    return state / "installs" / hashlib.sha256(os.fsencode(real)).hexdigest()[:32]


def _real(path: str) -> Path:
    """Return the file behind a symbolic link: that file is edited, and the link stays."""
    return Path(os.path.realpath(path))


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@contextmanager
def _setup_lock(state: Path) -> Iterator[None]:
    """Allow one set-up at a time."""
    make_private(state / "installs")
    with file_lock(state / "installs" / "lock"):
        yield


@contextmanager
def _named_errors(path: Path | str) -> Iterator[None]:
    """Raise errors about a file as SetupError, with the file's path."""
    try:
        yield
    except InvalidValueError as wrong:
        raise SetupError(wrong.message, where=f"{path}:{wrong.line}", advice=wrong.advice) from None
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        advice = "check its permissions and those of its folder; nothing was changed"
        raise SetupError(f"cannot be written: {why}", where=f"`{path}`", advice=advice) from None
