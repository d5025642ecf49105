"""Read and write the user's approvals of projects, which are in one file."""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from snell.model.errors import TrustError
from snell.settings.locate import MISSION, NOTES
from snell.settings.value_tree import Problem
from snell.system.files import FileError, file_lock, move_aside, read_capped, write_atomically
from snell.system.paths import Places, make_private

LONGEST_FILE = 16 * 1024 * 1024
VERSION = 1


class Pin(Struct, frozen=True):
    """One approved item, with what its digest covers, so that a later change can be named."""

    kind: str  # `hook`, `python`, `settings` or `notes`
    file: str  # relative to the root of the project
    title: str
    definition: dict[str, Any] = {}
    programs: tuple[str, ...] = ()
    files: dict[str, str] = {}


class ProjectPins(Struct, frozen=True):
    identity: str
    approved: dict[str, Pin] = {}
    agent_wrote: tuple[str, ...] = ()  # files that a tool call wrote, so that only their bytes can be approved

    @property
    def has_notes(self) -> bool:
        return self._has_text(NOTES)

    @property
    def has_mission(self) -> bool:
        return self._has_text(MISSION)

    def _has_text(self, name: str) -> bool:
        return any((pin.kind, pin.file) == ("notes", name) for pin in self.approved.values())


class Pins(Struct, frozen=True):
    version: int = VERSION
    projects: dict[str, ProjectPins] = {}


def pins_file(places: Places) -> Path:
    return places.state / "trust.json"


def read_pins(places: Places) -> tuple[Pins, Problem | None]:
    """Return all approvals; if the file cannot be read, none and the problem."""
    path = pins_file(places)
    try:
        pins = msgspec.json.decode(read_capped(path, LONGEST_FILE), type=Pins)
        if pins.version != VERSION:
            raise ValueError(f"it has version {pins.version}, and this Snell reads version {VERSION}")
        return pins, None
    except FileNotFoundError:
        return Pins(), None
    except (OSError, FileError, ValueError) as error:
        message = f"the approvals cannot be read, so no project is trusted: {_error_text(error)}"
        return Pins(), Problem(str(path), 1, message, "run `snell trust` in each project again")


def pins_of(pins: Pins, root: Path, identity: str) -> ProjectPins | None:
    """Return the approvals of one project; a folder that replaced another one has none."""
    found = pins.projects.get(str(root))
    return found if found and found.identity == identity and found.approved else None


@contextlib.contextmanager
def changed_pins(places: Places) -> Iterator[dict[str, ProjectPins]]:
    """Yield the approvals by project, and write them when the caller has changed them. Raises TrustError."""
    path = pins_file(places)
    try:
        make_private(places.state)
        with file_lock(path.with_name("trust.lock")):
            pins, problem = read_pins(places)
            if problem:
                move_aside(path, "bad")  # the user may want to look up what was approved
            projects = dict(pins.projects)
            yield projects
            text = json.dumps(msgspec.to_builtins(Pins(projects=projects)), indent=1, sort_keys=True)
            write_atomically(path, text.encode("utf-8") + b"\n", 0o600)
    except OSError as error:
        message = f"the approval cannot be written: {_error_text(error)}"
        raise TrustError(message, where=f"`{path}`", advice="check the permissions of that folder") from None


def _error_text(error: Exception) -> str:
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return text.splitlines()[0][:200] if text else type(error).__name__
