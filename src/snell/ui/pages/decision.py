"""One decision, as `snell why` draws it: hooks, times, changes, how the outcomes were combined, the client's answer."""

import difflib
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

import msgspec

from snell.clients import client_named
from snell.engine.explain import PASSES, explain, headline, result_of
from snell.model.decision import Change, Decision, Reason
from snell.model.effects import Verdict
from snell.model.errors import SnellError
from snell.model.events import Event, as_table
from snell.model.protocols import Transaction
from snell.records import decisions
from snell.records.decisions import Row
from snell.runtime.database_journal import record_from
from snell.system.json_input import json_or_none
from snell.ui.decision_rows import Record
from snell.ui.replayed import can_replay, replay_decision
from snell.ui.site import MissingError, Query, Site

# What the client does with a verdict about a call.
_MEANINGS = {
    "deny": "The client does not run the call, and the agent is told the reason.",
    "ask": "The client asks its user before it runs the call.",
    "defer": "The call waits for the program that drives the session.",
    "allow": "The client runs the call without asking its user.",
    "no_opinion": "No hook objects, so the client's own permissions decide.",
}
MOST_WORDS = 4_000  # of a value that is compared word by word


def show(site: Site, query: Query) -> dict[str, Any]:
    wanted = query["id"]

    def read(tx: Transaction) -> tuple[Row, Record, list[Any]]:
        row = decisions.find(tx, wanted)
        if row is None:
            raise MissingError(f"there is no decision `{wanted}`", advice="it may have expired; `snell log` lists them")
        trace = decisions.trace(tx, row.id)
        late = msgspec.json.decode(trace.late) if trace else []
        return row, as_table(json_or_none(trace.body) if trace else None) or record_from(row), late

    row, record, late = site.store.run(read)
    whole = {**record, "late": late} if late else record
    rounds = list(_rounds(whole))
    return {
        "row": row,
        "record": whole,
        "headline": headline(whole),
        "means": _MEANINGS.get(row.verdict, "") if record.get("value") is not None else "",
        "input": _pretty(record.get("value")),
        "rounds": rounds,
        "longest": max((run["ms"] for each in rounds for run in each["runs"]), default=0),
        "changes": [{**each, "parts": parts_of(each["before"], each["after"])} for each in record.get("changes", ())],
        "answer": _client_answer(record),
        "text": explain(whole),
        "can_replay": can_replay() and row.client not in ("", "person"),
        "again": replay_decision(site, row.id) if query["is_sent"] else {},
    }


def _rounds(record: Record) -> Iterator[dict[str, Any]]:
    """Yield the rounds; those in which each hook has a turn of its own are joined, as `why` shows them."""
    joined: list[dict[str, Any]] = []
    for each in record.get("rounds", ()):
        runs = [_run(run) for run in each["runs"]]
        if joined and joined[-1]["pass"] == each["pass"]:
            joined[-1]["runs"] += runs
        else:
            joined.append({"pass": each["pass"], "title": PASSES.get(each["pass"], each["pass"]), "runs": runs})
    yield from joined
    if late := record.get("late"):
        yield {"title": "after the reply", "runs": [_run(run, is_late=True) for run in late]}


def _run(run: Mapping[str, Any], *, is_late: bool = False) -> dict[str, Any]:
    effects = [str(each).partition(":")[0] for each in run.get("effects", ())]
    layer, source = run.get("layer", run.get("scope", "")), run.get("source", "")
    return {
        "hook": run["hook"],
        "role": run.get("role", ""),
        "ms": float(run.get("ms", 0)),
        "result": result_of(run, is_late=is_late),
        "class": "failed" if "failure" in run else next(iter(effects), "quiet"),
        "failure": run["failure"]["message"] if "failure" in run else "",
        "source": layer if source == layer else f"{layer}, {source}",
        "remarks": run.get("remarks", ()),
    }


def parts_of(before: Any, after: Any) -> list[tuple[str, str]]:
    """Return the texts of a change in order, each with `same`, `gone` or `new`, compared word by word."""
    old, new = (re.findall(r"\s+|\w+|[^\w\s]", _pretty(each)) for each in (before, after))
    if len(old) + len(new) > MOST_WORDS:
        return [("gone", "".join(old)), ("new", "".join(new))]
    parts: list[tuple[str, str]] = []
    for kind, i, j, k, end in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            parts.append(("same", "".join(old[i:j])))
        else:
            parts += [each for each in (("gone", "".join(old[i:j])), ("new", "".join(new[k:end]))) if each[1]]
    return parts


def _pretty(value: Any) -> str:
    """Return a value to be read: one text alone as it is, anything else as JSON."""
    if isinstance(value, dict) and len(value) == 1 and isinstance(next(iter(value.values())), str):
        return str(next(iter(value.values())))
    if isinstance(value, str) or value is None:
        return value or ""
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()


def _client_answer(record: Record) -> dict[str, Any]:
    """Return what the client is told for this decision, made again from what was stored; empty if that is unknown."""
    with suppress(SnellError, LookupError, TypeError, ValueError):
        reply = client_named(str(record.get("client", ""))).encode(_decision(record))
        out = reply.stdout.decode("utf-8", "replace")
        with suppress(msgspec.DecodeError):
            out = msgspec.json.format(out, indent=2) if out.startswith("{") else out
        return {"stdout": out, "stderr": reply.stderr.decode("utf-8", "replace"), "exit_code": reply.exit_code}
    return {}


def _decision(record: Record) -> Decision:
    changes = msgspec.convert(
        [{name: each.get(name, "") for name in Change.__struct_fields__} for each in record.get("changes", ())],
        tuple[Change, ...],
    )
    given = as_table(changes[-1].after if changes else record.get("value"))
    payload = {"tool_name": record.get("tool", ""), "tool_input": given}
    event = Event(
        name=str(record["event"]), client=str(record["client"]), tool=str(record.get("tool", "")), payload=payload
    )
    reasons, notes, tells, failures = (
        msgspec.convert(record.get(name, ()), tuple[Reason, ...]) for name in ("reasons", "notes", "tells", "failures")
    )
    return Decision(
        event=event,
        verdict=Verdict[str(record["verdict"]).upper()],
        reasons=reasons,
        notes=notes,
        tells=tells,
        failures=failures,
        changes=changes,
        stop=msgspec.convert(record["stop"], Reason) if record.get("stop") else None,
    )
