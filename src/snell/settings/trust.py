"""
Review and approve the hooks and settings of a project.

Nothing of a project is used as configuration, run or sent before the user has seen it (`review`) and approved it
(`approve`). Approval is for exact bytes; one changed byte disables that item again.
"""

import json
import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from snell.model.errors import TrustError
from snell.settings.file_digests import FileDigests, digest_of
from snell.settings.load import imported_clients, load
from snell.settings.locate import NOTES, project_at, texts_in, with_imports
from snell.settings.note_trust import is_pinned
from snell.settings.pins import Pin, ProjectPins, changed_pins, pins_of, read_pins
from snell.settings.project_trust import Item, ItemReader, changes_of, read_project
from snell.settings.skill_hooks import skill_files, skill_items
from snell.settings.value_tree import Problem
from snell.system.paths import Places


class ReviewItem(Struct, frozen=True):
    """One item of a project, with everything that the user needs to judge it."""

    kind: str
    title: str
    file: str
    line: int
    shows: str  # the full command, question, address or settings; unprintable characters are escaped
    digest: str
    state: Literal["approved", "changed", "new", "cannot"]
    event: str = ""
    changes: tuple[str, ...] = ()  # the parts that changed since the approval
    cannot: str = ""
    definition: dict[str, Any] = {}
    pins: tuple[str, ...] = ()  # programs and files that the digest covers
    not_pinned: tuple[str, ...] = ()  # what its scripts use besides


class Review(Struct, frozen=True):
    root: str
    items: tuple[ReviewItem, ...]
    problems: tuple[Problem, ...]
    digest: str  # of all items; approving it approves all of them

    @property
    def is_approved(self) -> bool:
        return all(item.state == "approved" for item in self.items)


class Status(Struct, frozen=True):
    """The approvals of a project; its files are not opened."""

    root: str
    approved: tuple[Pin, ...] = ()
    problems: tuple[Problem, ...] = ()


def review(places: Places, root: Path, env: Mapping[str, str]) -> Review:
    """Read everything in a project that needs approval, to show it to the user."""
    items, problems, approved = _read_items(places, root, env)
    current = {item.digest for item in items}
    rows = tuple(_row(item, approved, current) for item in items)
    return Review(str(Path(os.path.realpath(root))), rows, tuple(problems), _overall(items))


def approve(places: Places, root: Path, digests: Collection[str], env: Mapping[str, str]) -> Review:
    """
    Approve items by their digests, or all items by the digest of the review.

    Only what the user saw is approved: for a digest without an item, it raises TrustError and approves nothing.
    """
    items, _, _ = _read_items(places, root, env)
    chosen = [item for item in items if item.digest in digests or _overall(items) in digests]
    known = {item.digest for item in items} | {_overall(items)}
    if unknown := sorted(set(digests) - known):
        message = f"`{unknown[0]}` is not the digest of an item of this project"
        advice = "the item may have changed; review it again with `snell trust`"
        raise TrustError(message, where=f"`{root}`", advice=advice)
    if bad := next((item for item in chosen if item.cannot and item.digest in digests), None):
        raise TrustError(f"`{bad.title}` cannot be approved: {bad.cannot}", where=f"`{root}`", advice="correct it")
    project = project_at(root)
    new = {item.digest: item.pin for item in chosen if not item.cannot}
    with changed_pins(places) as projects:
        before = projects.get(str(project.root))
        same = before if before and before.identity == project.identity else ProjectPins(project.identity)
        replaced = {(pin.kind, pin.file, pin.title) for pin in new.values()}
        old = {digest: pin for digest, pin in same.approved.items() if (pin.kind, pin.file, pin.title) not in replaced}
        if old or new:
            projects[str(project.root)] = replace(same, approved=old | new)
    return review(places, root, env)


def revoke(places: Places, root: Path) -> int:
    """Remove every approval of a project and return their number."""
    name = str(Path(os.path.realpath(root)))
    if name not in read_pins(places)[0].projects:
        return 0
    with changed_pins(places) as projects:
        removed = projects.pop(name, None)
        if removed and removed.agent_wrote:  # the file is still there
            projects[name] = replace(removed, approved={})
    return len(removed.approved) if removed else 0


def status(places: Places, root: Path) -> Status:
    """Return the approvals of a project."""
    real = Path(os.path.realpath(root))
    pins, problem = read_pins(places)
    found = pins_of(pins, real, project_at(real).identity) if real.is_dir() else None
    approved = tuple(found.approved.values()) if found else ()
    return Status(str(real), approved, (problem,) if problem else ())


def _read_items(
    places: Places, root: Path, env: Mapping[str, str]
) -> tuple[list[Item], list[Problem], ProjectPins | None]:
    if not Path(root).is_dir():
        raise TrustError("is not a folder", where=f"`{root}`", advice="name the root of a project")
    settings = load(places, Path(os.sep), env)
    project = with_imports(project_at(root), imported_clients(settings.values))
    reader = ItemReader(project, FileDigests(), env)
    pins, problem = read_pins(places)
    extra_events = frozenset(settings.value("extra_events"))
    found = read_project(reader, extra_events)
    items, problems = found.items, [*found.problems, *([problem] if problem else [])]
    for path, is_agent in skill_files(project.root):
        more, further = skill_items(reader, path, is_agent=is_agent, extra_events=extra_events)
        items += more
        problems += further
    # Each is an item of its own: a file from a later `git pull` was not reviewed.
    for name, skills in texts_in(project.root).items():
        pinned = name == NOTES and is_pinned(project.root, pins.projects.get(str(project.root)))
        items.append(reader.pinned_notes() if pinned else reader.text_item(name, skills))
    return items, problems, pins_of(pins, project.root, project.identity)


def _row(item: Item, approved: ProjectPins | None, current: Collection[str]) -> ReviewItem:
    is_approved = approved is not None and item.digest in approved.approved
    changes = tuple(changes_of(item, approved, current)) if approved and not item.cannot and not is_approved else ()
    return ReviewItem(
        kind=item.kind,
        title=item.title,
        file=item.file,
        line=item.line,
        # Escaped is what could move the cursor, hide text or change the text before it.
        shows="".join(char if char.isprintable() or char == "\n" else f"\\u{ord(char):04x}" for char in _text_of(item)),
        digest=item.digest,
        state="cannot" if item.cannot else "approved" if is_approved else "changed" if changes else "new",
        event=item.hook.event if item.hook else "",
        changes=changes,
        cannot=item.cannot,
        definition=item.definition,
        pins=(*item.programs, *item.files),
        not_pinned=item.named.unknown,
    )


def _overall(items: Collection[Item]) -> str:
    return digest_of(sorted(item.digest for item in items))


def _text_of(item: Item) -> str:
    if item.kind != "hook":
        return "\n".join(f"{name} = {value}" for name, value in item.definition.items()) or item.file
    definition = item.definition
    words = [(name, definition[name]) for name in _FIRST if definition.get(name)]
    name, first = words[0] if words else ("", item.title)
    shown = {name, "args", "event", "handler", "id"} | {usual for usual in _USUAL if definition.get(usual) is True}
    rest = {name: value for name, value in definition.items() if name not in shown}
    more = [f"{name} = {json.dumps(value, ensure_ascii=False, default=str)}" for name, value in rest.items()]
    return "\n".join([" ".join([str(first), *definition.get("args", ())]), *more])


_FIRST = ("command", "url", "prompt", "tool", "file")  # the main key of each type of handler
_USUAL = ("pass_context", "parse_result")  # in every definition of a command, and nearly always true
