"""
The payload that one context window leaves for the next: summary, last action, next steps and files to read first.

If a window ended without a payload, one is built from the files of the effort.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from snell.work.errors import invalid
from snell.work.rows import Record

MOST_FILES = 8

INSTRUCTION = (
    "The context is nearly full. Save your state with `snell session dehydrate` (JSON on stdin: summary,"
    " lastAction, nextSteps, requiredFiles with at most 8 paths, handoverInstructions, userHistory with every request"
    " that is not done yet, word for word). It ends this session, so make it your last command."
)


def validate_payload(given: Any) -> tuple[Record, list[str]]:
    """Return the payload to store, and warnings. Raises VALIDATION_ERROR with every issue."""
    if not isinstance(given, Mapping):
        raise invalid("payload: must be an object")
    issues = [f"{name}: must be text" for name in ("summary", "lastAction") if not _is_text(given.get(name))]
    issues += [
        f"{name}: must be a list of texts" for name in ("nextSteps", "requiredFiles") if not _texts(given.get(name))
    ]
    optional = ("handoverInstructions", "userHistory")
    issues += [f"{name}: must be text" for name in optional if name in given and not isinstance(given[name], str)]
    if issues:
        raise invalid(*issues)
    files = list(dict.fromkeys(given["requiredFiles"]))
    warnings = [f"requiredFiles: the first {MOST_FILES} of {len(files)} are kept"] if len(files) > MOST_FILES else []
    names = ("summary", "lastAction", "nextSteps", "requiredFiles", *optional)
    kept = {name: given[name] for name in names if name in given}
    return {**kept, "requiredFiles": files[:MOST_FILES]}, warnings


def from_artefacts(task: Record, effort: Record, files: Sequence[str]) -> Record:
    """Return a payload for an effort whose last window left none."""
    about = task.get("title") or task["dirPath"]
    phase = effort["currentPhase"] or "no phase yet"
    return {
        "summary": f"The last session of `{effort['skill']}` on {about} ended without saving its state ({phase}).",
        "lastAction": "unknown; the files below are what it wrote",
        "nextSteps": ["read the files below", "find out what is done and what is not", "go on from there"],
        "requiredFiles": list(files)[:MOST_FILES],
    }


def recovery_block(payload: Mapping[str, Any], session_id: int, effort: Record) -> str:
    """Return the payload as text for the model of the next window."""
    lines = [
        "## Session recovery",
        f"Session {session_id} · skill {effort['skill']} · phase {effort['currentPhase'] or 'none'}",
        f"Summary: {payload.get('summary', '')}",
        f"Last action: {payload.get('lastAction', '')}",
        "Next steps:",
        *(f"- {step}" for step in payload.get("nextSteps") or ()),
    ]
    for name, title in (("handoverInstructions", "Handover"), ("userHistory", "What the user asked for")):
        if payload.get(name):
            lines.append(f"{title}: {payload[name]}")
    return "\n".join(lines)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)
