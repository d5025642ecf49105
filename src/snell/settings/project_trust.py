"""
What a project brings, and which of it may be believed.

INVARIANT: a project of which nothing was ever approved is not opened here; only the names of its files are seen.
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
from snell.settings.plugins import folders_in, read_pack
from snell.settings.problems import Problem
from snell.settings.read_file import read_file
from snell.settings.trust_items import Item, ItemReader

RUN_TRUST = "run `snell trust`"


class ProjectContent(Struct, frozen=True):
    """Everything that a project's files say, believed or not."""

    items: tuple[Item, ...] = ()
    values: Mapping[str, tuple[Value, ...]] = {}  # by the digest of the settings item that vouches for them
    complaints: tuple[Problem, ...] = ()
    files: tuple[FileStamp, ...] = ()


class ApprovedContent(Struct, frozen=True):
    """What of it counts. Hooks that may not run are there too, and say why."""

    hooks: tuple[Hook, ...] = ()
    values: tuple[Value, ...] = ()
    python: tuple[PythonSource, ...] = ()
    complaints: tuple[Problem, ...] = ()
    files: tuple[FileStamp, ...] = ()  # files beside the settings whose change would change the answer


def unapproved_project(workshop: ItemReader) -> ApprovedContent:
    """A project that nobody approved: names of Python files, and a hint."""
    project = workshop.project
    why = f"nothing of the project `{project.root}` was approved; {RUN_TRUST}"
    python = tuple(PythonSource(str(path), untrusted=why) for path in project.python)
    if not project.brings_anything:
        return ApprovedContent()
    message = "this project brings hooks or settings that nobody approved, so they have no effect"
    first = next((file.path for file in project.settings if os.path.lexists(file.path)), project.root / ".snell")
    hint = Problem(str(first), 1, message, f"{RUN_TRUST} to see them", "hint")
    return ApprovedContent(python=python, complaints=(hint,))


def approved_content(
    workshop: ItemReader, pins: ProjectPins, cwd: Path, extra_events: frozenset[str]
) -> ApprovedContent:
    """What counts of a project of which something was approved."""
    found = read_project(workshop, extra_events, vouched=pins.approved)
    hooks, python, complaints, files = [], [], list(found.complaints), list(found.files)
    values: list[Value] = []
    # What was approved is watched also while it is gone, so that its return is noticed.
    approved = (name for pin in pins.approved.values() for name in (*pin.files, *pin.programs))
    files += [watch_file(os.path.join(workshop.root, name)) for name in dict.fromkeys(approved)]
    current = {item.digest for item in found.items}
    for item in found.items:
        why = why_not(item, pins, workshop.root, cwd, current)
        named = (os.path.join(workshop.root, name) for name in (*item.files, *item.programs))
        files += [workshop.digests.stamp(path) for path in named]
        if item.hook:
            hooks.append(_marked(item.hook, item, why))
        elif item.kind == "python":
            path = os.path.join(workshop.root, item.file)
            python.append(PythonSource(path, "" if why else item.files[item.file], why))
        elif not why:
            values += found.values[item.digest]
        if why:
            complaints.append(_inert(item, why, workshop.root))
    return ApprovedContent(tuple(hooks), tuple(values), tuple(python), tuple(complaints), tuple(files))


def read_project(
    workshop: ItemReader, extra_events: frozenset[str], vouched: Mapping[str, Pin] | None = None
) -> ProjectContent:
    """Read everything that a project brings; with `vouched`, further folders only where an approved file names them."""
    items: list[Item] = []
    values: dict[str, tuple[Value, ...]] = {}
    complaints: list[Problem] = []
    files: list[FileStamp] = []
    for file in workshop.project.settings:
        parsed = read_file(file, extra_events)
        complaints += parsed.complaints
        name = os.path.relpath(file.path, workshop.root)
        items += [workshop.hook_item(each, name) for each in parsed.declared]
        if not parsed.values:
            continue
        settings = workshop.settings_item(parsed.values, name)
        items.append(settings)
        values[settings.digest] = parsed.values
        extra_events |= _extra_events(parsed)
        if vouched is None or settings.digest in vouched:
            for each in _plugins(parsed.values, extra_events, complaints, files):
                items += [workshop.hook_item(one, one.hook.source.file) for one in each.declared]
    items += [workshop.python_item(path) for path in workshop.project.python]
    return ProjectContent(tuple(items), values, tuple(complaints), tuple(files))


def why_not(item: Item, pins: ProjectPins, root: Path, cwd: Path, current: Collection[str] = ()) -> str:
    """Why a thing that a project brings may not be used; empty when it may."""
    if item.cannot:
        return f"it cannot be approved: {item.cannot}"
    if item.digest not in pins.approved:
        changes = changes_of(item, pins, current)
        what = f"{' and '.join(changes)} changed since it was approved" if changes else "nobody approved it"
        return f"{what}; {RUN_TRUST}"
    if strange := outside_files(item.named, root, cwd):
        return f"in `{cwd}` the word `{strange[0]}` means a file that was not approved"
    return ""


def changes_of(item: Item, pins: ProjectPins, current: Collection[str] = ()) -> list[str]:
    """What is not as it was when a person approved this; empty for something new."""
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
    alike = [pin for pin in same_file if all(pin.definition.get(k) == item.definition.get(k) for k in _LIKENESS)]
    return next(iter(named or alike), None)


_LIKENESS = ("event", "matcher", "handler")


def _marked(hook: Hook, item: Item, why: str) -> Hook:
    if why:
        return replace(hook, untrusted=why)
    if isinstance(hook.handler, PythonFile):
        return replace(hook, handler=replace(hook.handler, digest=next(iter(item.files.values()), "")))
    return hook


def _inert(item: Item, why: str, root: Path) -> Problem:
    what = {"hook": f"hook `{item.title}`", "python": "this file", "settings": f"`{item.title}`"}[item.kind]
    message, _, advice = f"{what} has no effect: {why}".partition("; ")
    return Problem(os.path.join(root, item.file), item.line, message, advice, "warning")


def _extra_events(parsed: Parsed) -> frozenset[str]:
    return frozenset(name for value in parsed.values if value.name == "extra_events" for name in value.value)


def _plugins(
    values: Sequence[Value], extra_events: frozenset[str], complaints: list[Problem], files: list[FileStamp]
) -> list[Parsed]:
    found: list[Parsed] = []
    for value in values:
        for folder in folders_in(value) if value.name == "packs" else ():
            pack = read_pack(folder, value, extra_events)
            found += pack.parsed
            files += pack.files
            complaints += [each for parsed in pack.parsed for each in parsed.complaints]
            if pack.source:
                message = f"`{folder}` has Python hooks, which a project may keep in .snell/hooks only"
                complaints.append(Problem(value.file, value.line, message, "or name it in your own settings"))
    return found
