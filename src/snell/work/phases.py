"""
Change the phase of an effort, within the phases that its skill declares.

A phase is an entry `{label, name}`; a label is a number (`2`) or a number with a part (`2.1`, `2.B`). Without a reason
only the next phase is allowed; parts of the current phase may be added.
"""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from snell.model.protocols import Transaction
from snell.work import efforts
from snell.work.errors import WorkError, invalid
from snell.work.rows import Record, WorkTable, now_ms, update

HISTORY = WorkTable("phase_history", "id effort_id phase_label proof created_at", "phase")


class Move(Struct, frozen=True):
    """The result of checking a change of phase."""

    phase: str  # `label: name`
    is_change: bool = True
    phases: tuple[Record, ...] = ()  # as they are afterwards


def change(
    tx: Transaction, effort_id: int, phase: str, proof: dict[str, Any] | None = None, reason: str | None = None
) -> Record:
    """Change to a phase, store the proof in the history and reset the heartbeat."""
    effort = efforts.get_unfinished(tx, effort_id)
    declared = list_phases(effort["metadata"].get("phases"))
    move = check_move(declared, effort["currentPhase"], phase, reason)
    if move.is_change:
        update(tx, "efforts", "id", effort_id, {"current_phase": move.phase})
        if list(move.phases) != list(declared):
            efforts.update_metadata(tx, effort_id, {"phases": list(move.phases)})
        kept = {**(proof or {}), **({"reason": reason} if reason else {})}
        HISTORY.insert(tx, effort_id=effort_id, phase_label=move.phase, proof=kept or None, created_at=now_ms())
        tx.do("UPDATE sessions SET heartbeat_counter = 0 WHERE effort_id = ? AND ended_at IS NULL", effort_id)
    return {"effort": efforts.get(tx, effort_id), "phase": move.phase, "changed": move.is_change}


def history(tx: Transaction, effort_id: int) -> list[Record]:
    return HISTORY.matching(tx, "id", effort_id=effort_id)


def check_move(declared: Sequence[Any], current: str | None, wanted: str, reason: str | None = None) -> Move:
    """Check that a phase may follow the current one. Raises UNKNOWN_PHASE or PHASE_NOT_SEQUENTIAL."""
    phases = list_phases(declared)
    label, _, name = (part.strip() for part in wanted.partition(":"))
    if not label:
        raise invalid("phase: must not be empty")
    if not phases:  # a skill without phases allows any
        phase = phase_label({"label": label, "name": name})
        return Move(phase, phase != current)
    known = _index(phases, label)
    at = _index(phases, current.partition(":")[0].strip()) if current else -1
    if known is None:
        return _insert_part(phases, at, label, name)
    if known == at:
        return Move(phase_label(phases[known]), False, tuple(phases))
    if not reason and not _follows(phases, at, known):
        nxt = phase_label(phases[at + 1]) if at is not None and at + 1 < len(phases) else "none: this is the last one"
        raise WorkError(
            "PHASE_NOT_SEQUENTIAL",
            f"`{phase_label(phases[known])}` does not follow `{current or 'the beginning'}`; next is `{nxt}`",
            advice="give a reason to change to it anyway",
        )
    return Move(phase_label(phases[known]), True, tuple(phases))


def list_phases(declared: Any) -> list[Record]:
    """Return the valid phases of a declaration, with labels as text."""
    given = declared if isinstance(declared, list | tuple) else ()
    found = (each for each in given if isinstance(each, dict) and isinstance(each.get("label"), str | int | float))
    return [{**each, "label": str(each["label"])} for each in found if str(each["label"]).strip()]


def phase_label(phase: Record) -> str:
    label, name = str(phase.get("label", "")), str(phase.get("name") or "")
    return f"{label}: {name}" if name else label


def _follows(phases: Sequence[Record], at: int | None, known: int) -> bool:
    if at is None:
        return True  # the current phase is not declared any more, so any phase may follow
    if known == at + 1:
        return True
    # From a part of a phase the remaining parts may be skipped.
    return at >= 0 and "." in phases[at]["label"] and known == _next_major(phases, at)


def _next_major(phases: Sequence[Record], at: int) -> int | None:
    major = _parts(phases[at]["label"])[0]
    later = (index for index in range(at + 1, len(phases)) if _parts(phases[index]["label"])[0] != major)
    return next(later, None)


def _insert_part(phases: list[Record], at: int | None, label: str, name: str) -> Move:
    """Add an undeclared part of the current phase after the current part."""
    major, minor = _parts(label)
    here = _parts(phases[at]["label"]) if at is not None and at >= 0 else ("", 0)
    if at is None or at < 0 or major != here[0] or minor <= here[1]:
        known = ", ".join(str(each["label"]) for each in phases)
        raise WorkError("UNKNOWN_PHASE", f"there is no phase `{label}`", advice=f"there are {known}")
    added = {"label": label, "name": name}
    return Move(phase_label(added), True, (*phases[: at + 1], added, *phases[at + 1 :]))


def _parts(label: str) -> tuple[str, int]:
    """Split a label into phase and part: `2.B` is part 2 of phase 2."""
    major, _, minor = str(label).partition(".")
    if minor.isdecimal():
        return major, int(minor[:9])
    return major, ord(minor.upper()[0]) - ord("A") + 1 if minor[:1].isalpha() and minor.isascii() else 0


def _index(phases: Sequence[Record], label: str) -> int | None:
    return next((index for index, each in enumerate(phases) if str(each["label"]) == label), None)
