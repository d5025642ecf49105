"""
Run approved files from private copies: what was hashed is what is executed, even if the file is replaced meanwhile.

The copies are in a folder of the user's with the shape of the project. Beside a copy stand links to what is beside the
original, so `$0`, `BASH_SOURCE`, `__file__` and `sys.path[0]` lead to the same files as before. Not linked
is what would run instead of an approved file or of Python's own modules: compiled files, a `json.py` that was added.
What a program writes beside its copy is moved to the original's folder after the run.
"""

import hashlib
import os
import shlex
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from snell.model.errors import TrustError
from snell.model.hooks import ApprovedFiles
from snell.settings.command_files import expand_words, known_variables
from snell.settings.file_digests import LONGEST_PINNED, FileDigests
from snell.shell.reader import read
from snell.system.files import bytes_or_none, names_in, write_atomically
from snell.system.paths import make_private

FOLDER = "approved"
KEPT_DAYS = 30  # after the last use
_COMPILED = "__pycache__"
_COMPILED_MODULES = (".so", ".pyd", ".pyc")
_JAVASCRIPT = (".js", ".cjs", ".mjs", ".ts")
_digests = FileDigests()


class CopiedCommand(Struct, frozen=True):
    """A command in which the approved files are replaced by their copies."""

    words: tuple[str, ...]
    copies: tuple["Copies", ...] = ()

    def collect_new_files(self) -> None:
        for copies in self.copies:
            copies.collect_new_files()


def command_with_copies(
    words: Sequence[str], approved: ApprovedFiles, state: Path, cwd: str, plugin_root: str = ""
) -> CopiedCommand:
    """
    Return the command with copies instead of approved files; raises TrustError if a file is not the approved one.

    A file that the text of the command does not name plainly is compared once more and then run where it is.
    """
    made = [Copies(state / FOLDER, base, files) for base, files in _by_folder(approved).items()]
    place = {path: os.path.join(copies.folder, name) for copies in made for path, name in copies.originals()}
    variables = known_variables(Path(approved.root), os.environ, plugin_root)
    folders = [cwd, *(path for path in _named_folders(words, cwd, variables))]

    def copy_of(text: str) -> str | None:
        values = expand_words(text, variables)
        if len(values) != 1:
            return None
        paths = (os.path.normpath(os.path.join(folder, values[0])) for folder in folders)
        return next((place[path] for path in paths if path in place), None)

    is_shell = list(words[:2]) == ["/bin/sh", "-c"]
    if is_shell:
        changed = [*words[:2], _replace_in_line(words[2], copy_of), *words[3:]]
    else:
        changed = [place.get(os.path.normpath(os.path.join(cwd, word)), word) for word in words]
    text = "\n".join(changed)
    used = [copies for copies in made if str(copies.folder) in text]
    for copies in made:
        copies.make() if copies in used else copies.check_originals()
    return CopiedCommand(tuple(changed), tuple(used))


class Copies:
    """The copies of approved files below one folder."""

    def __init__(self, parent: Path, base: str, files: Mapping[str, str]) -> None:
        self._parent, self._base, self._files = parent, base, files
        key = hashlib.sha256(repr((base, sorted(files.items()))).encode("utf-8", "surrogatepass")).hexdigest()
        self.folder = parent / key[:32]
        self._own: dict[str, set[str]] = {}  # by folder, the names that are not links
        for name in files:
            while name:
                name, last = os.path.split(name)
                self._own.setdefault(name, set()).add(last)

    def originals(self) -> Iterator[tuple[str, str]]:
        return ((os.path.join(self._base, name), name) for name in self._files)

    def check_originals(self) -> None:
        for name, digest in self._files.items():
            self._approved_bytes(name, digest)

    def make(self) -> None:
        """Make the folder, or bring it up to date."""
        try:
            if not self.folder.is_dir():
                make_private(self._parent)
                _remove_unused(self._parent)
            for inner in sorted(self._own):
                os.makedirs(self.folder / inner, mode=0o700, exist_ok=True)
            for name, digest in self._files.items():
                self._copy(name, digest)
            for inner, own in self._own.items():
                self._link(inner, own)
            os.utime(self.folder)
        except OSError as error:
            message = f"its approved copy cannot be written: {error.strerror or error}"
            raise TrustError(message, where=f"`{self.folder}`", advice="make room, or check that folder") from None

    def collect_new_files(self) -> None:
        """Move what a program wrote beside its copy to where the original is."""
        for inner, own in self._own.items():
            for entry in _entries(self.folder / inner):
                if entry.name in own or entry.name == _COMPILED or entry.is_symlink():
                    continue
                with suppress(OSError):
                    shutil.move(entry.path, os.path.join(self._base, inner, entry.name))

    def _copy(self, name: str, digest: str) -> None:
        copy = self.folder / name
        if copy.exists() and not copy.is_symlink() and _digests.of(str(copy)) == digest:
            return
        data = self._approved_bytes(name, digest)
        mode = 0o500 if os.access(os.path.join(self._base, name), os.X_OK) else 0o400
        write_atomically(copy, data, mode, sync=False)

    def _approved_bytes(self, name: str, digest: str) -> bytes:
        path = Path(self._base, name)
        data = bytes_or_none(path, LONGEST_PINNED)
        if data is None or hashlib.sha256(data).hexdigest() != digest:
            raise TrustError(f"`{name}` changed since it was approved", where=f"`{path}`", advice="run `snell trust`")
        return data

    def _link(self, inner: str, own: set[str]) -> None:
        there = os.path.join(self._base, inner)
        wanted = {each for each in names_in(there) if each not in own and not _is_preferred(there, each, own)}
        have = {entry.name: entry.is_symlink() for entry in _entries(self.folder / inner)}
        for name in wanted - have.keys():
            with suppress(FileExistsError):  # another run of the hook has just made it
                os.symlink(os.path.join(there, name), self.folder / inner / name)
        for name in have.keys() - wanted - own:
            if have[name]:
                (self.folder / inner / name).unlink(missing_ok=True)


def _by_folder(approved: ApprovedFiles) -> dict[str, dict[str, str]]:
    """Return the digests by name for the project's folder, and for the folder of each file outside it."""
    found: dict[str, dict[str, str]] = {}
    for path, digest in approved.files:
        base = approved.root if Path(path).is_relative_to(approved.root) else os.path.dirname(path)
        found.setdefault(base, {})[os.path.relpath(path, base)] = digest
    return found


def _named_folders(words: Sequence[str], cwd: str, variables: Mapping[str, str]) -> list[str]:
    """Return folders that the command names, such as that of a `cd` before the program."""
    values = [value for text in words[1:] for value in expand_words(text, variables)[:200]]
    return [path for value in values if (path := os.path.join(cwd, value)) != cwd and os.path.isdir(path)][:8]


def _replace_in_line(line: str, copy_of: Callable[[str], str | None]) -> str:
    places: list[tuple[int, int, str]] = []
    for command in read(line).commands:
        if not command.embedded:
            for start, end in command.spans:
                if copy := copy_of(command.text[start:end]):
                    places.append((command.start + start, command.start + end, shlex.quote(copy)))
    for start, end, copy in sorted(set(places), reverse=True):
        line = line[:start] + copy + line[end:]
    return line


def _is_preferred(folder: str, name: str, own: Set[str]) -> bool:
    """Return whether an interpreter would run this file or package instead of an approved file or of its own module."""
    stem, _, end = name.partition(".")
    is_own = f"{stem}.py" in own or (stem in sys.stdlib_module_names and any(each.endswith(".py") for each in own))
    if name == _COMPILED or (is_own and (end == "py" or name.endswith(_COMPILED_MODULES))):
        return True
    if end:
        return False
    path = os.path.join(folder, name)
    if is_own and any(each.startswith("__init__.") for each in names_in(path)):
        return True
    return any(f"{name}{each}" in own for each in _JAVASCRIPT) and not os.path.isdir(path)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    with suppress(OSError), os.scandir(folder) as entries:
        return list(entries)
    return []


def _remove_unused(parent: Path) -> None:
    oldest = time.time() - KEPT_DAYS * 86_400
    for entry in _entries(parent):
        if entry.stat(follow_symlinks=False).st_mtime < oldest:
            shutil.rmtree(entry.path, ignore_errors=True)
