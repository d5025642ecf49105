"""
Read the items of a project that need approval, and decide which of them the user has approved.

Each item has one digest over everything that decides what it does:

    the definition   canonical, so that comments and spelling do not matter
    the project      real path, device and inode of its root
    the programs     real paths of interpreters
    the files        bytes of every local file that the command names

INVARIANT: the files of a project of which nothing was ever approved are not opened; only their names are read.
"""

import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct, field
from msgspec.structs import replace

from snell.model.hooks import ApprovedFiles, Hook, PythonFile
from snell.settings.command_files import NamedFiles, files_named_by, files_of_command, outside_files, with_used_files
from snell.settings.file_digests import FileDigests, FileStamp, digest_of, watch_file
from snell.settings.locate import MISSION, NOTES, Project
from snell.settings.note_trust import notes_in
from snell.settings.parse import read_file
from snell.settings.parse_types import Collected, Declared, PythonSource, Value, extra_events
from snell.settings.pins import Pin, ProjectPins
from snell.settings.plugins import folders_in, read_pack_folder
from snell.settings.value_tree import Problem

RUN_TRUST = "run `snell trust`"
Kind = Literal["hook", "python", "settings", "notes"]


class Item(Pin, frozen=True, kw_only=True):
    """What an approval stores of an item, and what is known of it now."""

    line: int
    digest: str
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
        texts = {f"`{each.command}` runs": each.text for each in named.targets}
        definition = {**declared.definition, **texts}
        return self._item("hook", file, hook.source.line, hook.id, definition, named, hook)

    def python_item(self, path: Path) -> Item:
        name = _relative(str(path), self.root)
        return self._item("python", name, 1, path.stem, {}, with_used_files(str(path), self.root))

    def settings_item(self, values: tuple[Value, ...], file: str) -> Item:
        """Return everything in a settings file that is not a hook, as one item."""
        definition = {value.name: value.value for value in values}
        tables = (value for value in definition.values() if isinstance(value, dict))
        commands = [str(table["command"]) for table in tables if table.get("command")]
        named = files_of_command("\n".join(commands), self.root, self.env) if commands else NamedFiles()
        line, title = min(value.line for value in values), ", ".join(definition)
        return self._item("settings", file, line, title, definition, named)

    def text_item(self, name: str = NOTES, skills: Sequence[str] = ()) -> Item:
        """Return a text for the model; the approval also covers later changes, so the digest covers no bytes."""
        # These texts are part of the digest: with other words, earlier approvals would be invalid.
        what = "its text is given to the model, between fences and as information, whatever it says from now on"
        if name == MISSION:
            what = "its text is given to the model as instructions, whatever it says from now on"
        if skills:
            what = "its skills are given to the model, with their phases and templates, whatever they say from now on"
        title = f"{name} ({', '.join(skills)})" if skills else name
        return self._item("notes", name, 1, title, {"notes": what}, NamedFiles())

    def pinned_notes(self) -> Item:
        """Return the notes of the project, which come from elsewhere, so that only these bytes are approved."""
        text = notes_in(self.root).decode("utf-8", "replace")
        what = "git tracks it, or an agent wrote it; exactly this text is given to the model, as information"
        named = NamedFiles(files=(str(self.root / NOTES),))
        found = self._item("notes", NOTES, 1, NOTES, {"notes": what, "text": text}, named)
        return found if text else replace(found, cannot="it is empty, a link, or longer than 32,000 bytes")

    def _item(
        self,
        kind: Kind,
        file: str,
        line: int,
        title: str,
        definition: dict[str, Any],
        named: NamedFiles,
        hook: Hook | None = None,
    ) -> Item:
        files = {_relative(path, self.root): self.digests.of(path) for path in named.files}
        covered = {"definition": definition, "programs": named.programs, "files": files}
        project = {"root": str(self.root), "identity": self.project.identity}
        digest = digest_of({"kind": kind, "file": file, **covered, **project})
        pinned = (kind, file, title, definition, named.programs, files)
        return Item(*pinned, line=line, digest=digest, hook=hook, named=named, cannot=_why_never(named, files))


def _why_never(named: NamedFiles, files: Mapping[str, str]) -> str:
    if named.is_too_much:
        return "its command has more words or files than Snell can check"
    bad = next((name for name, digest in files.items() if digest.startswith("<")), "")
    return f"`{bad}` is {files[bad].strip('<>')}" if bad else ""


def _relative(path: str, root: Path) -> str:
    """Return the path relative to the root when the file is inside it."""
    return os.path.relpath(path, root) if Path(path).is_relative_to(root) else path


class ProjectContent(Struct):
    """Everything in a project's files, approved or not."""

    items: list[Item] = field(default_factory=list)
    values: dict[str, tuple[Value, ...]] = field(default_factory=dict)  # by the digest of their settings item
    problems: list[Problem] = field(default_factory=list)
    files: list[FileStamp] = field(default_factory=list)


def collect_unapproved(project: Project, collected: Collected) -> None:
    """Collect from a project without approval the names of its Python files, and a hint."""
    if not project.has_content:
        return
    why = f"the project `{project.root}` is not approved; {RUN_TRUST}"
    collected.python += [PythonSource(str(path), untrusted=why) for path in project.python]
    message = "this project has hooks or settings that are not approved, so they have no effect"
    first = next((file.path for file in project.settings if os.path.lexists(file.path)), "")
    place, line = str(first or project.root / ".snell"), int(bool(first))
    collected.problems.append(Problem(place, line, message, f"{RUN_TRUST} to see them", "hint"))


def collect_approved(reader: ItemReader, pins: ProjectPins, cwd: Path, collected: Collected) -> None:
    """Collect the approved part of a project. Hooks that may not run are included, with the reason."""
    found = read_project(reader, collected.extra_events, approved_items=pins.approved)
    collected.problems += found.problems
    collected.watch(found.files)
    # Approved files are watched also while they are missing, so that their return is noticed.
    approved = (name for pin in pins.approved.values() for name in (*pin.files, *pin.programs))
    collected.watch(watch_file(os.path.join(reader.root, name)) for name in dict.fromkeys(approved))
    current = {item.digest for item in found.items}
    for item in found.items:
        why = why_not(item, pins, reader.root, cwd, current)
        named = (os.path.join(reader.root, name) for name in (*item.files, *item.programs))
        collected.watch(reader.digests.stamp(path) for path in named)
        collected.watch(watch_file(path) for each in item.named.targets for path in each.files)
        if item.hook:
            collected.add_hook(hook_with_trust(item.hook, item, why, reader.root), item.definition)
        elif item.kind == "python":
            path = os.path.join(reader.root, item.file)
            collected.python.append(PythonSource(path, "" if why else item.files[item.file], why))
        elif not why:
            collected.values += found.values[item.digest]
        if why:
            what = {"hook": f"hook `{item.title}`", "python": "this file", "settings": f"`{item.title}`"}[item.kind]
            message, _, advice = f"{what} has no effect: {why}".partition("; ")
            place = os.path.join(reader.root, item.file)
            collected.problems.append(Problem(place, item.line, message, advice, "warning"))


def read_project(
    reader: ItemReader, known_events: frozenset[str], approved_items: Mapping[str, Pin] | None = None
) -> ProjectContent:
    """Read all files of a project; with `approved_items`, folders in `packs` only when their settings are approved."""
    content = ProjectContent()
    for file in reader.project.settings:
        parsed = read_file(file, known_events)
        content.problems += parsed.problems
        name = os.path.relpath(file.path, reader.root)
        content.items += [reader.hook_item(each, name) for each in parsed.declared]
        if not parsed.values:
            continue
        settings = reader.settings_item(parsed.values, name)
        content.items.append(settings)
        content.values[settings.digest] = parsed.values
        known_events |= extra_events(parsed.values)
        if approved_items is None or settings.digest in approved_items:
            for value in parsed.values:
                _read_packs(value, reader, known_events, content)
    content.items += [reader.python_item(path) for path in reader.project.python]
    return content


def _read_packs(value: Value, reader: ItemReader, known_events: frozenset[str], content: ProjectContent) -> None:
    """Read the plugins that `packs` names; packs with Python hooks are reported."""
    for folder in folders_in(value) if value.name == "packs" else ():
        pack = read_pack_folder(folder, value, known_events)
        content.files += pack.files
        for parsed in pack.parsed:
            content.problems += parsed.problems
            content.items += [reader.hook_item(one, one.hook.source.file) for one in parsed.declared]
        if pack.source:
            message = f"`{folder}` has Python hooks, which a project may keep in .snell/hooks only"
            content.problems.append(Problem(value.file, value.line, message, "or name it in your own settings"))


def why_not(item: Item, pins: ProjectPins, root: Path, cwd: Path, current: Collection[str] = ()) -> str:
    """Return the reason why an item may not be used; empty when it may."""
    if item.cannot:
        return f"it cannot be approved: {item.cannot}"
    if item.digest not in pins.approved:
        changes = changes_of(item, pins, current)
        what = f"{' and '.join(changes)} changed since it was approved" if changes else "it is not approved"
        return f"{what}; {RUN_TRUST}"
    if outside := outside_files(item.named, root, cwd):
        return f"in `{cwd}` the word `{outside[0]}` means a file that was not approved"
    return ""


def changes_of(item: Item, pins: ProjectPins, current: Collection[str] = ()) -> list[str]:
    """Return the parts that changed since the approval; empty for a new item."""
    old = _predecessor(item, [pin for digest, pin in pins.approved.items() if digest not in current])
    if old is None:
        return []
    names = dict.fromkeys((*old.files, *item.files))
    changed = [f"`{name}`" for name in names if old.files.get(name) != item.files.get(name)]
    if tuple(old.programs) != tuple(item.programs):
        new = [each for each in item.programs if each not in old.programs]
        changed.append(f"its interpreter (now `{new[0]}`)" if new else "its interpreter")
    if digest_of(old.definition) != digest_of(item.definition) or not changed:
        changed.append("its definition")
    return changed


def _predecessor(item: Item, pins: Sequence[Pin]) -> Pin | None:
    same_file = [pin for pin in pins if pin.kind == item.kind and pin.file == item.file]
    named = [pin for pin in same_file if pin.title == item.title or item.kind != "hook"]
    alike = [pin for pin in same_file if all(pin.definition.get(k) == item.definition.get(k) for k in _SAME_HOOK)]
    return next(iter(named or alike), None)


_SAME_HOOK = ("event", "matcher", "handler")


def hook_with_trust(hook: Hook, item: Item, why: str, root: Path) -> Hook:
    """Return the hook with the reason why it may not run, or with the digests of the files that it may run."""
    if why:
        return replace(hook, untrusted=why)
    if isinstance(hook.handler, PythonFile):
        return replace(hook, handler=replace(hook.handler, digest=next(iter(item.files.values()), "")))
    if item.files and "approved" in hook.handler.__struct_fields__:
        files = tuple((os.path.join(root, name), digest) for name, digest in item.files.items())
        return replace(hook, handler=replace(hook.handler, approved=ApprovedFiles(str(root), files)))
    return hook
