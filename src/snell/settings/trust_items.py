"""
The items of a project that need approval, each with one digest over everything that decides what it does:

    the definition   canonical, so that comments and spelling do not matter
    the project      real path, device and inode of its root
    the programs     real paths of interpreters
    the files        bytes of every local file that the command names
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from snell.model.hooks import Hook
from snell.settings.command_files import NamedFiles, files_named_by, files_of_command
from snell.settings.file_digests import FileDigests, digest_of
from snell.settings.locate import NOTES, Project
from snell.settings.parse_types import Declared, Value
from snell.settings.pins import Pin

Kind = Literal["hook", "python", "settings", "notes"]


class Item(Struct, frozen=True):
    kind: Kind
    file: str  # relative to the root
    line: int
    title: str
    digest: str
    definition: dict[str, Any] = {}
    programs: tuple[str, ...] = ()
    files: dict[str, str] = {}
    hook: Hook | None = None
    named: NamedFiles = NamedFiles()
    cannot: str = ""  # why it cannot be approved as it is

    @property
    def pin(self) -> Pin:
        return Pin(self.kind, self.file, self.title, self.definition, self.programs, self.files)


class ItemReader(Struct, frozen=True):
    """Makes the items of one project."""

    project: Project
    digests: FileDigests
    env: Mapping[str, str]

    @property
    def root(self) -> Path:
        return self.project.root

    def hook_item(self, declared: Declared, file: str) -> Item:
        hook = declared.hook
        named = files_named_by(hook.handler, self.root, self.env)
        files = self._digests_of(named)
        return self._item(
            "hook", file, hook.source.line, hook.id, declared.definition, named.programs, files, hook, named
        )

    def python_item(self, path: Path) -> Item:
        name = _relative(str(path), self.root)
        return self._item("python", name, 1, path.stem, files={name: self.digests.of(str(path))})

    def settings_item(self, values: tuple[Value, ...], file: str) -> Item:
        """Return everything in a settings file that is not a hook, as one item."""
        definition = {value.name: value.value for value in values}
        tables = (value for value in definition.values() if isinstance(value, dict))
        commands = [str(table["command"]) for table in tables if table.get("command")]
        named = files_of_command("\n".join(commands), self.root, self.env) if commands else NamedFiles()
        files = self._digests_of(named)
        line, title = min(value.line for value in values), ", ".join(definition)
        return self._item("settings", file, line, title, definition, named.programs, files, named=named)

    def notes_item(self) -> Item:
        """Return the notes for the model; the approval also covers later changes, so the digest covers no bytes."""
        # This text is part of the digest: with other words, earlier approvals would be invalid.
        what = "its text is given to the model, between fences and as information, whatever it says from now on"
        return self._item("notes", NOTES, 1, NOTES, {"notes": what})

    def _digests_of(self, named: NamedFiles) -> dict[str, str]:
        return {_relative(path, self.root): self.digests.of(path) for path in named.files}

    def _item(
        self,
        kind: Kind,
        file: str,
        line: int,
        title: str,
        definition: dict[str, Any] | None = None,
        programs: tuple[str, ...] = (),
        files: dict[str, str] | None = None,
        hook: Hook | None = None,
        named: NamedFiles = NamedFiles(),  # noqa: B008 - frozen, so it can be shared
    ) -> Item:
        covers = {
            "kind": kind,
            "file": file,
            "definition": definition or {},
            "root": str(self.root),
            "identity": self.project.identity,
            "programs": programs,
            "files": files or {},
        }
        return Item(
            kind=kind,
            file=file,
            line=line,
            title=title,
            digest=digest_of(covers),
            definition=definition or {},
            programs=programs,
            files=files or {},
            hook=hook,
            named=named,
            cannot=_why_never(named, files or {}),
        )


def _why_never(named: NamedFiles, files: Mapping[str, str]) -> str:
    if named.is_too_much:
        return "its command has more words or files than Snell can check"
    bad = next((name for name, digest in files.items() if digest.startswith("<")), "")
    return f"`{bad}` is {files[bad].strip('<>')}" if bad else ""


def _relative(path: str, root: Path) -> str:
    """Return the path relative to the root when the file is inside it."""
    return os.path.relpath(path, root) if Path(path).is_relative_to(root) else path
