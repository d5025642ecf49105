"""
Read the hooks and settings of a project, and decide which of them the user has approved.

INVARIANT: the files of a project of which nothing was ever approved are not opened; only their names are read.
"""

import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from snell.model.hooks import Hook, PythonFile
from snell.settings.command_files import outside_files
from snell.settings.file_digests import digest_of
from snell.settings.file_watch import FileStamp, watch_file
from snell.settings.parse_types import Parsed, PythonSource, Value
from snell.settings.pins import Pin, ProjectPins
from snell.settings.plugins import folders_in, read_pack_folder
from snell.settings.problems import Problem
from snell.settings.read_file import read_file
from snell.settings.trust_items import Item, ItemReader

RUN_TRUST = "run `snell trust`"


class ProjectContent(Struct, frozen=True):
    """Everything in a project's files, approved or not."""

    items: tuple[Item, ...] = ()
    values: Mapping[str, tuple[Value, ...]] = {}  # by the digest of their settings item
    problems: tuple[Problem, ...] = ()
    files: tuple[FileStamp, ...] = ()


class ApprovedContent(Struct, frozen=True):
    """The approved part of a project. Hooks that may not run are included, with the reason."""

    hooks: tuple[Hook, ...] = ()
    values: tuple[Value, ...] = ()
    python: tuple[PythonSource, ...] = ()
    problems: tuple[Problem, ...] = ()
    files: tuple[FileStamp, ...] = ()  # further files whose change would change the result


def unapproved_project(reader: ItemReader) -> ApprovedContent:
    """Return the content of a project without approval: the names of its Python files, and a hint."""
    project = reader.project
    why = f"the project `{project.root}` is not approved; {RUN_TRUST}"
    python = tuple(PythonSource(str(path), untrusted=why) for path in project.python)
    if not project.has_content:
        return ApprovedContent()
    message = "this project has hooks or settings that are not approved, so they have no effect"
    first = next((file.path for file in project.settings if os.path.lexists(file.path)), project.root / ".snell")
    hint = Problem(str(first), 1, message, f"{RUN_TRUST} to see them", "hint")
    return ApprovedContent(python=python, problems=(hint,))


def approved_content(reader: ItemReader, pins: ProjectPins, cwd: Path, extra_events: frozenset[str]) -> ApprovedContent:
    """Return the approved part of a project of which something was approved."""
    found = read_project(reader, extra_events, approved_items=pins.approved)
    hooks, python, problems, files = [], [], list(found.problems), list(found.files)
    values: list[Value] = []
    # Approved files are watched also while they are missing, so that their return is noticed.
    approved = (name for pin in pins.approved.values() for name in (*pin.files, *pin.programs))
    files += [watch_file(os.path.join(reader.root, name)) for name in dict.fromkeys(approved)]
    current = {item.digest for item in found.items}
    for item in found.items:
        why = why_not(item, pins, reader.root, cwd, current)
        named = (os.path.join(reader.root, name) for name in (*item.files, *item.programs))
        files += [reader.digests.stamp(path) for path in named]
        if item.hook:
            hooks.append(_with_trust(item.hook, item, why))
        elif item.kind == "python":
            path = os.path.join(reader.root, item.file)
            python.append(PythonSource(path, "" if why else item.files[item.file], why))
        elif not why:
            values += found.values[item.digest]
        if why:
            problems.append(_problem_of(item, why, reader.root))
    return ApprovedContent(tuple(hooks), tuple(values), tuple(python), tuple(problems), tuple(files))


def read_project(
    reader: ItemReader, extra_events: frozenset[str], approved_items: Mapping[str, Pin] | None = None
) -> ProjectContent:
    """Read all files of a project; with `approved_items`, folders in `packs` only when their settings are approved."""
    items: list[Item] = []
    values: dict[str, tuple[Value, ...]] = {}
    problems: list[Problem] = []
    files: list[FileStamp] = []
    for file in reader.project.settings:
        parsed = read_file(file, extra_events)
        problems += parsed.problems
        name = os.path.relpath(file.path, reader.root)
        items += [reader.hook_item(each, name) for each in parsed.declared]
        if not parsed.values:
            continue
        settings = reader.settings_item(parsed.values, name)
        items.append(settings)
        values[settings.digest] = parsed.values
        extra_events |= _extra_events(parsed)
        if approved_items is None or settings.digest in approved_items:
            for each in _plugins(parsed.values, extra_events, problems, files):
                items += [reader.hook_item(one, one.hook.source.file) for one in each.declared]
    items += [reader.python_item(path) for path in reader.project.python]
    return ProjectContent(tuple(items), values, tuple(problems), tuple(files))


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


def _with_trust(hook: Hook, item: Item, why: str) -> Hook:
    if why:
        return replace(hook, untrusted=why)
    if isinstance(hook.handler, PythonFile):
        return replace(hook, handler=replace(hook.handler, digest=next(iter(item.files.values()), "")))
    return hook


def _problem_of(item: Item, why: str, root: Path) -> Problem:
    what = {"hook": f"hook `{item.title}`", "python": "this file", "settings": f"`{item.title}`"}[item.kind]
    message, _, advice = f"{what} has no effect: {why}".partition("; ")
    return Problem(os.path.join(root, item.file), item.line, message, advice, "warning")


def _extra_events(parsed: Parsed) -> frozenset[str]:
    return frozenset(name for value in parsed.values if value.name == "extra_events" for name in value.value)


def _plugins(
    values: Sequence[Value], extra_events: frozenset[str], problems: list[Problem], files: list[FileStamp]
) -> list[Parsed]:
    found: list[Parsed] = []
    for value in values:
        for folder in folders_in(value) if value.name == "packs" else ():
            pack = read_pack_folder(folder, value, extra_events)
            found += pack.parsed
            files += pack.files
            problems += [each for parsed in pack.parsed for each in parsed.problems]
            if pack.source:
                message = f"`{folder}` has Python hooks, which a project may keep in .snell/hooks only"
                problems.append(Problem(value.file, value.line, message, "or name it in your own settings"))
    return found
