"""`snell new case`: write a recorded event as a case of a hook, with what was decided then as its expectation."""

import argparse
import os
import re
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from snell.cli.read_journal import read_journal
from snell.engine.explain import shorten
from snell.model.errors import SnellError
from snell.records import decisions
from snell.replay.decisions import EventFilter, recorded_sessions
from snell.replay.recorded_event import RecordedEvent
from snell.setup.edit_toml import toml_value
from snell.system.files import read_capped, write_atomically
from snell.system.paths import Places, places
from snell.testing.case_event import NAMES, KindFields
from snell.testing.cases import ENDING, LARGEST
from snell.testing.run_cases import run_file

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_OF_SESSION = ("session_id", "hook_event_name", "cwd", "tool_name", "tool_input", "tool_use_id", "transcript_path")
_VERDICTS = ("deny", "ask", "defer", "allow")


def run(args: argparse.Namespace) -> int:
    recorded, trace = find_event(places(os.environ), args.id)
    hook = Path(args.to) if args.to else None
    if hook and not hook.with_suffix(".py").is_file():
        advice = "name the file of a Python hook, such as .snell/hooks/NAME.py"
        raise SnellError(f"`{hook}` is not a hook", advice=advice)
    name, text = case_of(recorded, trace, hook.stem if hook else "")
    if hook is None:
        print(text, end="")  # noqa: T201 - a command prints its result
        return 0
    file = hook.with_suffix(ENDING)
    before = read_capped(file, LARGEST).decode() if file.exists() else ""
    write_atomically(file, (f"{before.rstrip()}\n\n" if before.strip() else "").encode() + text.encode(), mode=0o644)
    result = next(each for each in run_file(file, lambda case: case.name == name))
    now = "it passes" if result.passed else f"it fails now: {'; '.join(result.differences)}"
    print(f"added a case to {file}; {now}")  # noqa: T201 - a command prints its result
    return 0


def find_event(where: Places, wanted: str) -> tuple[RecordedEvent, Mapping[str, Any]]:
    """Return the event of a decision, and its trace. Raises SnellError."""
    with read_journal(where) as (database, _):
        row = database.run(lambda tx: decisions.find(tx, wanted), only_reads=True)
        if row is None:
            raise SnellError(f"there is no decision `{wanted}`", advice="`snell log` lists them")
        kept = database.run(lambda tx: decisions.trace(tx, row.id), only_reads=True)
        sessions = recorded_sessions(database, where, EventFilter(row.at, row.session_id))
        found = next(each for events in sessions for each in events if each.id == row.id)
    if kept is None or "input" in found.unknown or found.unknown == "its trace is gone":
        raise SnellError(f"the event of `{row.id}` was not kept", advice="`snell record on` keeps whole events")
    return found, msgspec.json.decode(kept.body or "{}")


def case_of(recorded: RecordedEvent, trace: Mapping[str, Any], hook: str = "") -> tuple[str, str]:
    """Return the name of a case and its text; its expectation is about one hook, or about all that decided."""
    day = time.strftime("%Y-%m-%d", time.gmtime(recorded.at / 1000))
    cwd = recorded.payload.get("cwd") or ""
    event = _writable(_event(recorded), cwd)
    given = next((event[key] for key in ("command", "path", "prompt", "url") if isinstance(event.get(key), str)), "")
    what = f"{recorded.tool_name or recorded.name} {shorten(given, 60)}"
    name = " ".join(f"{what}, recorded on {day} ({recorded.id})".split())
    lines = ["[[case]]", f"name = {toml_value(name)}", f"event = {toml_value(event)}"]
    if recorded.unknown:
        lines.insert(1, f"# {recorded.unknown}: write one of your own that the hook judges the same")
    return name, "\n".join([*lines, f"expect = {toml_value(_expectation(recorded, trace, hook, cwd))}"]) + "\n"


def _event(recorded: RecordedEvent) -> dict[str, Any]:
    """Return the fields of a case's event: by kind where that says all, else by tool and input."""
    payload = recorded.payload
    rest = {key: value for key, value in payload.items() if key not in _OF_SESSION and value not in ("", None)}
    if not recorded.tool:
        return {"on": recorded.name, **rest}
    given = payload.get("tool_input") or {}
    of_kind = NAMES.kinds.get(recorded.kind, KindFields())
    own = {ours: given[theirs] for ours, theirs in of_kind.inputs.items() if isinstance(given.get(theirs), str)}
    if len(own) == len(given) and own.keys() & set(of_kind.needs) and recorded.tool == of_kind.tool:
        if "path" in own and recorded.payload.get("cwd"):
            own["path"] = own["path"].removeprefix(f"{recorded.payload['cwd']}/")
        return {"on": recorded.name, "kind": recorded.kind, **own, **rest}
    return {"on": recorded.name, "tool": recorded.tool, "input": given, **rest}


def _expectation(recorded: RecordedEvent, trace: Mapping[str, Any], hook: str, cwd: str) -> Any:
    """Return the verdict with its reason, in parts where that names the folder of the project."""
    verdict, reason = recorded.verdict, next((each["text"] for each in trace.get("reasons") or []), "")
    if hook:
        verdict, reason = next(_effects(trace, hook), ("no_opinion", ""))
    parts = reason.split(f"{cwd}/") if len(cwd) > 1 else [reason]
    return {verdict: parts if parts[1:] else reason} if reason and verdict in _VERDICTS else verdict


def _effects(trace: Mapping[str, Any], hook: str) -> Iterator[tuple[str, str]]:
    """Yield the verdicts of the hooks of one file."""
    for run in (each for part in trace.get("rounds") or [] for each in part.get("runs") or []):
        if hook in (run["hook"], run["hook"].partition("/")[0], run["hook"].rpartition("/")[2].partition(":")[0]):
            for effect in run.get("effects") or []:
                verdict, _, text = effect.partition(": ")
                if verdict in _VERDICTS:
                    yield verdict, text


def _writable(value: Any, cwd: str) -> Any:
    """Return a value that TOML can have: without nulls, keys in quotes where needed, paths in the project relative."""
    if isinstance(value, dict):
        pairs = ((key if _BARE_KEY.fullmatch(key) else toml_value(key), each) for key, each in value.items())
        return {key: _writable(each, cwd) for key, each in pairs if each is not None}
    if isinstance(value, list):
        return [_writable(each, cwd) for each in value if each is not None]
    return value.replace(f"{cwd}/", "./") if isinstance(value, str) and len(cwd) > 1 else value
