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

from snell.model.errors import TrustError
from snell.settings.file_digests import FileDigests, digest_of
from snell.settings.load import imported_clients, load
from snell.settings.locate import NOTES, project_at, with_imports
from snell.settings.pins import Pin, ProjectPins, change_pins, pins_of, read_pins
from snell.settings.problems import Problem
from snell.settings.project_trust import changes_of, read_project
from snell.settings.skill_hooks import skill_files, skill_items
from snell.settings.trust_items import Item, ItemReader
from snell.system.paths import Places

State = Literal["approved", "changed", "new", "cannot"]


class ReviewItem(Struct, frozen=True):
    """One item of a project, with everything that the user needs to judge it."""

    kind: str
    title: str
    file: str
    line: int
    shows: str  # the full command, question, address or settings; unprintable characters are escaped
    digest: str
    state: State
    event: str = ""
    changes: tuple[str, ...] = ()  # the parts that changed since the approval
    cannot: str = ""
    definition: dict[str, Any] = {}
    pins: tuple[str, ...] = ()  # programs and files that the digest covers


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
        raise TrustError(
            message, where=f"`{root}`", advice="the item may have changed; review it again with `snell trust`"
        )
    if bad := next((item for item in chosen if item.cannot and item.digest in digests), None):
        raise TrustError(f"`{bad.title}` cannot be approved: {bad.cannot}", where=f"`{root}`", advice="correct it")
    project = project_at(root)
    new = {item.digest: item.pin for item in chosen if not item.cannot}

    def add(projects: dict[str, ProjectPins]) -> None:
        before = projects.get(str(project.root))
        kept = before.approved if before and before.identity == project.identity else {}
        replaced = {(pin.kind, pin.file, pin.title) for pin in new.values()}
        old = {digest: pin for digest, pin in kept.items() if (pin.kind, pin.file, pin.title) not in replaced}
        if old or new:
            projects[str(project.root)] = ProjectPins(project.identity, old | new)

    change_pins(places, add)
    return review(places, root, env)


def revoke(places: Places, root: Path) -> int:
    """Remove every approval of a project and return their number."""
    name = str(Path(os.path.realpath(root)))
    removed: list[ProjectPins] = []

    def remove(projects: dict[str, ProjectPins]) -> None:
        if name in projects:
            removed.append(projects.pop(name))

    if name in read_pins(places)[0].projects:
        change_pins(places, remove)
    return sum(len(each.approved) for each in removed)


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
    items, problems = list(found.items), [*found.problems, *([problem] if problem else [])]
    for path, is_agent in skill_files(project.root):
        more, further = skill_items(reader, path, is_agent=is_agent, extra_events=extra_events)
        items += more
        problems += further
    if os.path.isfile(project.root / NOTES):
        items.append(reader.notes_item())  # an item of its own: a file from a later `git pull` was not reviewed
    return items, problems, pins_of(pins, project.root, project.identity)


def _row(item: Item, approved: ProjectPins | None, current: Collection[str]) -> ReviewItem:
    state, changes = _state(item, approved, current)
    return ReviewItem(
        kind=item.kind,
        title=item.title,
        file=item.file,
        line=item.line,
        shows=_visible(_text_of(item)),
        digest=item.digest,
        state=state,
        event=item.hook.event if item.hook else "",
        changes=changes,
        cannot=item.cannot,
        definition=item.definition,
        pins=(*item.programs, *item.files),
    )


def _state(item: Item, approved: ProjectPins | None, current: Collection[str]) -> tuple[State, tuple[str, ...]]:
    if item.cannot:
        return "cannot", ()
    if approved and item.digest in approved.approved:
        return "approved", ()
    changes = tuple(changes_of(item, approved, current)) if approved else ()
    return ("changed" if changes else "new"), changes


def _overall(items: Collection[Item]) -> str:
    return digest_of(sorted(item.digest for item in items))


def _text_of(item: Item) -> str:
    if item.kind != "hook":
        return "\n".join(f"{name} = {value}" for name, value in item.definition.items()) or item.file
    definition = item.definition
    words = [(name, definition[name]) for name in _FIRST if definition.get(name)]
    name, first = words[0] if words else ("", item.title)
    shown = {name, "args", "event", "handler", "id"} | {usual for usual in _USUAL if definition.get(usual) is True}
    more = [f"{name} = {_json(value)}" for name, value in definition.items() if name not in shown]
    return "\n".join([" ".join([str(first), *definition.get("args", ())]), *more])


_FIRST = ("command", "url", "prompt", "tool", "file")  # the main key of each type of handler
_USUAL = ("pass_context", "parse_result")  # in every definition of a command, and nearly always true


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _visible(text: str) -> str:
    """Escape characters that could move the cursor, hide text or change the text before them."""
    return "".join(char if char.isprintable() or char == "\n" else f"\\u{ord(char):04x}" for char in text)
