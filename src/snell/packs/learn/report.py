"""
Write a report of the session.

Why      The same detours come back in every session until you look at them.
What     When a session ends or is compacted, a Markdown report of its prompts, tools, commands, errors, refusals and
         time, from the recorded decisions, without secrets. With `patterns = "model"` your language model (`[model]`)
         reads the report afterwards and adds the patterns that it finds; no reply waits for that.
Instead  It is off by default; `[pack.learn] enabled = true` enables it, `folder` says where the reports go.
"""

import os
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from snell.model.context import Context
from snell.model.effects import Tell
from snell.model.errors import StoreError
from snell.model.events import Event, as_table
from snell.model.protocols import Transaction
from snell.redact import redact_data
from snell.sdk.decorators import informs
from snell.system.json_input import json_or_none

SHOWN = 12
LONGEST = 200
QUESTIONS = (
    "Which tasks were attempted, and which were finished?",
    "Which commands came again and again?",
    "Which errors came up, and what solved them?",
    "What could be automated?",
)
WRITTEN = "learn/written"  # reports that a model has not read yet, by session


@informs("PreCompact", "SessionEnd", timeout=10, waits=True)
def write_report(event: Event, context: Context) -> Tell | None:
    """Write a report of the session so far, and tell the user where it is."""
    text = redact_data(report_of(event, _read_counts(event, context), str(context.options.get("agent") or "@learn")))
    folder = Path(os.path.expanduser(str(context.options.get("folder") or "~/.claude/flow-reports")))
    try:
        path = _write(folder, event.name, str(text))
    except OSError:
        return None  # a report that cannot be written must not disturb the session
    if context.options.get("patterns") == "model":
        context.marks.put(WRITTEN, event.session_id, str(path))  # not among the session's marks, which end with it
    return Tell(f"flow report: {path}")


def report_of(event: Event, counts: "SessionCounts", agent: str) -> str:
    minutes = max(0, counts.last - counts.first) / 60_000
    lines = [
        "# Flow report",
        "",
        f"- event: {event.name}",
        f"- time: {time.strftime('%Y-%m-%dT%H:%M:%S%z')}",
        f"- session: {event.session_id or 'unknown'}",
        f"- working directory: {event.cwd or 'unknown'}",
        f"- {counts.events} events in {minutes:.0f} minutes",
    ]
    parts = (
        ("Prompts", _list_prompts(counts)),
        ("Tools", _list_counts(counts.tools)),
        ("Commands", _list_counts(counts.commands)),
        ("Files", _list_counts(counts.files)),
        ("Errors", _list_items(counts.errors)),
        ("Refused or asked", _list_items(counts.refusals)),
        ("Rewritten by", _list_counts(counts.rewrites)),
        ("Questions", [f"- {each}" for each in QUESTIONS]),
    )
    for title, body in parts:
        lines += ["", f"## {title}", "", *body] if body else []
    return "\n".join([*lines, "", f"Hand this to {agent} for conclusions.", ""])


def _read_counts(event: Event, context: Context) -> "SessionCounts":
    with suppress(StoreError):
        if context.database is not None:
            return context.database.run(lambda tx: count_session(tx, event.session_id))
    return SessionCounts()


def _list_items(items: list[str]) -> list[str]:
    items_shown = [f"- {' '.join(each.split())[:LONGEST]}" for each in items[-SHOWN:]]
    return [*items_shown, f"- ... and {len(items) - SHOWN} earlier ones"] if len(items) > SHOWN else items_shown


def _list_prompts(counts: "SessionCounts") -> list[str]:
    """List prompts, each with the minutes until the next one."""
    starts = [at for at, _ in counts.prompts]
    ends = [*starts[1:], counts.last]
    spent = [(end - begin) / 60_000 for begin, end in zip(starts, ends, strict=False)]
    return _list_items([f"{minutes:.0f} min: {text}" for minutes, (_, text) in zip(spent, counts.prompts, strict=True)])


def _list_counts(items: Counter[str]) -> list[str]:
    return [f"- {number} x {name[:LONGEST]}" for name, number in items.most_common(SHOWN)]


def _write(folder: Path, event: str, text: str) -> Path:
    """Write a report to a new file; two reports in one second get two names."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    for number in range(1, 100):
        path = folder / f"{time.strftime('%Y%m%d-%H%M%S')}-{event}{f'-{number}' if number > 1 else ''}.md"
        with suppress(FileExistsError), path.open("x", encoding="utf-8") as file:
            file.write(text)
            return path
    raise OSError("no file name is free")


MOST_DECISIONS = 5_000  # of a session; they are stored without secrets


class SessionCounts(Struct):
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


def count_session(tx: Transaction, session_id: str) -> "SessionCounts":
    """Count a session's last decisions, oldest first."""
    rows = tx.rows(
        "SELECT d.at, d.event, d.tool, d.verdict, t.body FROM decisions d LEFT JOIN traces t ON t.decision_id = d.id"
        " WHERE d.session_id = ? ORDER BY d.seq DESC LIMIT ?",
        session_id,
        MOST_DECISIONS,
    )
    counts = SessionCounts(events=len(rows), first=rows[-1][0], last=rows[0][0]) if rows else SessionCounts()
    for at, event, tool, verdict, body in reversed(rows):
        _count(counts, at, str(event), str(tool), str(verdict), as_table(json_or_none(body or "")))
    return counts


def _count(counts: "SessionCounts", at: int, event: str, tool: str, verdict: str, record: dict[str, Any]) -> None:
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


def _count_input(counts: "SessionCounts", given: dict[str, Any]) -> None:
    command, path = given.get("command"), given.get("file_path")
    if isinstance(command, str) and command.strip():
        counts.commands[" ".join(command.split()[:2])] += 1
    if isinstance(path, str) and path:
        counts.files[path] += 1
