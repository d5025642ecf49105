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

from snell.model.context import Context
from snell.model.effects import Tell
from snell.model.errors import StoreError
from snell.model.events import Event
from snell.packs.learn.session_counts import SessionCounts, count_session
from snell.redact import redact_data
from snell.sdk.decorators import informs

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
def report(event: Event, context: Context) -> Tell | None:
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


def report_of(event: Event, counts: SessionCounts, agent: str) -> str:
    """Return the report as Markdown."""
    minutes = max(0, counts.last - counts.first) / 60_000
    lines = [
        "# Flow report",
        "",
        f"- event: {event.name}",
        f"- time: {time.strftime('%Y-%m-%dT%H:%M:%S%z')}",
        f"- session: {event.session_id or 'unknown'}",
        f"- working directory: {event.cwd or os.getcwd()}",
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


def _read_counts(event: Event, context: Context) -> SessionCounts:
    with suppress(StoreError):
        if context.database is not None:
            return context.database.run(lambda tx: count_session(tx, event.session_id))
    return SessionCounts()


def _list_items(items: list[str]) -> list[str]:
    items_shown = [f"- {' '.join(each.split())[:LONGEST]}" for each in items[-SHOWN:]]
    return [*items_shown, f"- ... and {len(items) - SHOWN} earlier ones"] if len(items) > SHOWN else items_shown


def _list_prompts(counts: SessionCounts) -> list[str]:
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
