"""Count what happened in a session, from the recorded decisions, which are redacted already."""

from collections import Counter
from typing import Any

import msgspec
from msgspec import Struct, field

from snell.model.protocols import Transaction

MOST_DECISIONS = 5_000


class SessionCounts(Struct):
    """The figures of a session."""

    events: int = 0
    first: int = 0  # milliseconds since 1970
    last: int = 0
    prompts: list[tuple[int, str]] = field(default_factory=list)  # when, and what
    tools: Counter[str] = field(default_factory=Counter)
    commands: Counter[str] = field(default_factory=Counter)
    files: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    rewrites: Counter[str] = field(default_factory=Counter)


def count_session(tx: Transaction, session_id: str) -> SessionCounts:
    """Count a session's last decisions, oldest first."""
    rows = tx.rows(
        "SELECT d.at, d.event, d.tool, d.verdict, t.body FROM decisions d LEFT JOIN traces t ON t.decision_id = d.id"
        " WHERE d.session_id = ? ORDER BY d.seq DESC LIMIT ?",
        session_id,
        MOST_DECISIONS,
    )
    counts = SessionCounts(events=len(rows), first=rows[-1][0], last=rows[0][0]) if rows else SessionCounts()
    for at, event, tool, verdict, body in reversed(rows):
        _count(counts, at, str(event), str(tool), str(verdict), _decode(body))
    return counts


def _decode(body: str | None) -> dict[str, Any]:
    try:
        found = msgspec.json.decode(body or "{}")
    except msgspec.DecodeError:
        return {}
    return found if isinstance(found, dict) else {}


def _count(counts: SessionCounts, at: int, event: str, tool: str, verdict: str, record: dict[str, Any]) -> None:
    value = record.get("value")
    if event == "UserPromptSubmit" and isinstance(value, str):
        counts.prompts.append((at, value))
    if event == "PreToolUse":
        counts.tools[tool] += 1
        _count_input(counts, value if isinstance(value, dict) else {})
    if (error := error_in(event, record)) is not None:
        counts.errors.append(f"{tool or event}: {error or 'failed'}")
    if verdict in ("deny", "ask"):
        counts.refusals.append(f"{tool or event}: {record.get('reason') or verdict}")
    for change in record.get("changes", ()):
        if isinstance(change, dict):
            counts.rewrites[str(change.get("hook", ""))] += 1


def error_in(event: str, record: dict[str, Any]) -> str | None:
    """Return the error, in the tool's or the client's words; None when there was none."""
    if event in ("PostToolUseFailure", "StopFailure"):
        return str(record.get("error") or "")
    answer = record.get("value") if event == "PostToolUse" else None
    if not isinstance(answer, dict):
        return None
    code = next((answer[name] for name in ("exit_code", "exitCode", "returnCode") if name in answer), 0)
    error = answer.get("error")
    if not (error or answer.get("is_error") or answer.get("isError") or (isinstance(code, int) and code != 0)):
        return None
    words = next(
        (text for text in (error, *map(answer.get, _ERROR_TEXTS)) if isinstance(text, str) and text.strip()), ""
    )
    return f"exit code {code}: {words}" if code else words


_ERROR_TEXTS = ("stderr", "message", "output", "stdout")


def _count_input(counts: SessionCounts, given: dict[str, Any]) -> None:
    command, path = given.get("command"), given.get("file_path")
    if isinstance(command, str) and command.strip():
        counts.commands[" ".join(command.split()[:2])] += 1
    if isinstance(path, str) and path:
        counts.files[path] += 1
