"""Ledger: the tool calls, with failures, times and denials by tool, by rule and over time; and one call."""

import re
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from snell.cli.call_summary import decode_stored, summary
from snell.model.events import as_table
from snell.model.protocols import Transaction
from snell.model.tables import Table, blanks, where_given
from snell.records import ledger
from snell.records.ledger import Call
from snell.system.json_input import json_or_none
from snell.ui.numbers import number_in
from snell.ui.site import MissingError, Query, Site

WINDOW = 5_000  # calls that one page reads at most
SHOWN = 50
BARS = 10
DENIALS = 500  # newest ones whose reasons are read
SPANS = 48  # columns of the chart over time
STATUSES = (*ledger.ENDED, *ledger.OPEN)
_CALLS = Table("tool_calls", Call, assigned="revision")
_RULE = re.compile(r"([a-z][a-z0-9_-]{1,60}):")
_FILTERS = {"tool": "raw_tool_name", "status": "status", "session": "session_id"}


_NEWEST = "ORDER BY created_at DESC, tool_call_id DESC"
Key = tuple[int, str]  # when a call was made, and its id


class Bar(Struct):
    name: str
    calls: int = 0
    failed: int = 0
    denied: int = 0
    ms: int = 0


class Span(Struct, frozen=True):
    """One column of the chart over time: calls, and those of them that failed or were denied."""

    at: int
    calls: int
    bad: int


def show(site: Site, query: Query) -> dict[str, Any]:
    asked = {name: query.get(name, "").strip() for name in _FILTERS}
    after = (number_in(query, "at"), query.get("id", ""))

    def read(tx: Transaction) -> dict[str, Any]:
        calls, older = _page(tx, asked, after)
        refs = [call.request_ref for call in calls if call.request_ref]
        bodies = dict(tx.rows(f"SELECT ref, body FROM tool_bodies WHERE ref IN ({blanks(refs)})", *refs))
        return {"calls": calls, "older": older, "bodies": bodies, **_numbers(tx, asked["session"])}

    values = site.store.run(read)
    calls, older, bodies = values["calls"], values["older"], values.pop("bodies")
    return {
        **values,
        "what": {call.tool_call_id: _what(bodies.get(call.request_ref, "")) for call in calls},
        "asked": asked,
        "statuses": STATUSES,
        "is_first": not after[0],
        "older": {**asked, "at": older[0], "id": older[1]} if older else {},
        "window": WINDOW,
    }


def show_one(site: Site, query: Query) -> dict[str, Any]:
    wanted = query.get("id", "")

    def read(tx: Transaction) -> dict[str, Any]:
        call = ledger.find(tx, wanted)
        if call is None:
            raise MissingError(f"there is no call `{wanted}`", advice="it may have expired; the ledger lists the calls")
        bodies = {name: ledger.body(tx, getattr(call, f"{name}_ref")) for name in ("request", "response")}
        return {"call": call, **{name: _pretty(found[0]) if found else "" for name, found in bodies.items()}}

    values = site.store.run(read)
    facts = {
        name: value for name, value in msgspec.structs.asdict(values["call"]).items() if value not in ("", 0, "[]")
    }
    return {**values, "facts": facts}


def _page(tx: Transaction, asked: Mapping[str, str], after: Key) -> tuple[list[Call], Key | None]:
    """
    Return a page of calls, newest first, by an index, and the place after which the next page begins.

    Filters without an index look at one window of calls; then the next page begins after the window.
    """
    wanted: dict[str, list[Any]] = {
        "session_id = ?": [asked["session"]],
        "(created_at, tool_call_id) < (?, ?)": [*after],
    }
    given = {clause: values for clause, values in wanted.items() if values[0]}
    where = f"WHERE {' AND '.join(given)}" if given else ""
    values = [value for each in given.values() for value in each]
    clause, more = where_given({_FILTERS[name]: value for name, value in asked.items() if name != "session"})
    limit = WINDOW if more else SHOWN + 1
    keys = f"FROM tool_calls {where} {_NEWEST} LIMIT ?"
    inside = f"{clause or 'WHERE 1 = 1'} AND tool_call_id IN (SELECT tool_call_id {keys})"
    calls = _CALLS.read(tx, f"{inside} {_NEWEST} LIMIT ?", *more, *values, limit, SHOWN + 1)
    if len(calls) > SHOWN:
        return calls[:SHOWN], (calls[SHOWN - 1].created_at, calls[SHOWN - 1].tool_call_id)
    end = tx.rows(f"SELECT created_at, tool_call_id {keys} OFFSET ?", *values, 1, WINDOW - 1) if more else []
    return calls, (end[0][0], end[0][1]) if end else None


def _numbers(tx: Transaction, session: str) -> dict[str, Any]:
    """Return the charts of the newest calls."""
    clause, given = where_given({"session_id": session})
    sql = (
        f"SELECT created_at, raw_tool_name, status, duration_ms, decision_id FROM tool_calls {clause} {_NEWEST} LIMIT ?"
    )
    rows = tx.rows(sql, *given, WINDOW)
    tools = dict[str, Bar]()
    for _at, tool, status, ms, _decision in rows:
        bar = tools.setdefault(tool, Bar(tool))
        bar.calls, bar.ms = bar.calls + 1, bar.ms + ms
        bar.failed, bar.denied = bar.failed + (status == "failed"), bar.denied + (status == "denied")
    rules = _denials_by_rule(tx, [row[4] for row in rows if row[2] == "denied"][:DENIALS])
    return {
        "number": len(rows),
        "by_calls": _largest(tools, "calls"),
        "by_time": _largest(tools, "ms"),
        "by_failures": _largest(tools, "failed"),
        "by_rule": _largest(rules, "calls"),
        "spans": _spans([(int(row[0]), row[2] in ("failed", "denied")) for row in rows]),
    }


def _denials_by_rule(tx: Transaction, decision_ids: list[str]) -> dict[str, Bar]:
    """Count what denied these calls: the rule that the reason begins with, or else the hook."""
    bodies = tx.rows(f"SELECT body FROM traces WHERE decision_id IN ({blanks(decision_ids)})", *decision_ids)
    bars: dict[str, Bar] = {}
    for (body,) in bodies:
        for reason in as_table(json_or_none(body)).get("reasons", ())[:1]:
            rule = _RULE.match(str(reason.get("text", "")))
            name = rule[1] if rule else str(reason.get("hook", ""))
            bars.setdefault(name, Bar(name)).calls += 1
    return bars


def _largest(bars: Mapping[str, Bar], field: str) -> list[Bar]:
    found = [bar for bar in bars.values() if getattr(bar, field)]
    return sorted(found, key=lambda bar: (-getattr(bar, field), bar.name))[:BARS]


def _spans(calls: list[tuple[int, bool]]) -> list[Span]:
    """Return the numbers of calls in equal spans of time, oldest first."""
    if not calls:
        return []
    first, last = min(at for at, _ in calls), max(at for at, _ in calls)
    width = max(1, (last - first) // SPANS + 1)
    counted, bad = [0] * SPANS, [0] * SPANS
    for at, is_bad in calls:
        counted[(at - first) // width] += 1
        bad[(at - first) // width] += is_bad
    return [Span(first + place * width, counted[place], bad[place]) for place in range(SPANS)]


def _what(body: str) -> str:
    return summary(decode_stored(body)) if body else ""


def _pretty(body: str) -> str:
    try:
        return msgspec.json.format(body, indent=2)
    except (msgspec.DecodeError, RecursionError):
        return body
