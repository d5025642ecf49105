"""
Decide whether the LOCAL.md of a project may be given to the model as it is now.

One that git does not track is the user's own: approved once, it may change. One that git tracks, or that a tool call
of an agent wrote, comes from elsewhere, so only the bytes that the user approved are given.
"""

import hashlib
import os
from pathlib import Path

from msgspec.structs import replace

from snell.settings.locate import NOTES, project_at
from snell.settings.pins import ProjectPins, changed_pins, pins_of, read_pins
from snell.system.files import bytes_or_none
from snell.system.git_index import may_track
from snell.system.paths import Places

LARGEST = 32_000


def is_pinned(root: Path, pins: ProjectPins | None) -> bool:
    """Return whether an approval covers only the bytes that the user saw."""
    return bool(pins and NOTES in pins.agent_wrote) or may_track(str(root / NOTES))


def trusted_notes(state: Path, root: str) -> tuple[str, bool]:
    """Return the text that may be given to the model, and whether there is one that must be approved again."""
    folder = Path(os.path.realpath(root))
    pins = pins_of(read_pins(_places(state))[0], folder, project_at(folder).identity)
    data = notes_in(folder)
    if not pins or not data.strip():
        return "", False
    approved = [pin.files for pin in pins.approved.values() if (pin.kind, pin.file) == ("notes", NOTES)]
    digest = hashlib.sha256(data).hexdigest()
    if {NOTES: digest} in approved or ({} in approved and not is_pinned(folder, pins)):
        return data.decode("utf-8", "replace"), False
    return "", bool(approved)


def notes_in(root: Path) -> bytes:
    """Return the bytes of a project's notes. Links are not followed: they lead to anything that the user can read."""
    return bytes_or_none(root / NOTES, LARGEST, follow_links=False) or b""


def record_agent_write(state: Path, root: str) -> None:
    """Record that a tool call wrote the notes in this folder: from now on an approval covers only their bytes."""
    project = project_at(Path(root))
    before = read_pins(_places(state))[0].projects.get(str(project.root))
    if before and before.identity == project.identity and NOTES in before.agent_wrote:
        return
    with changed_pins(_places(state)) as projects:
        known = projects.get(str(project.root))
        same = known if known and known.identity == project.identity else ProjectPins(project.identity)
        projects[str(project.root)] = replace(same, agent_wrote=(NOTES,))


def _places(state: Path) -> Places:
    return Places(config=state, state=state, run=state)  # approvals are in `state` alone
