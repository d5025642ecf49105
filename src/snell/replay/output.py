"""Show a replay in the terminal, as JSON, as JUnit XML and as SARIF. Nothing in it depends on the time of the run."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import msgspec

from snell.cli.terminal import Colours, plural, visible
from snell.replay.compare import ASKED, DENIED, RESULTS, UNCHANGED, UNKNOWN
from snell.replay.recorded_event import Replayed
from snell.replay.run import Report
from snell.system.files import write_atomically

SHOWN_GROUPS, SHOWN_EVENTS = 12, 3
_ASKS = ("ask", "defer")
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def rates(report: Report) -> dict[str, float]:
    """Return asks and denials per 1,000 tool calls that could be replayed."""
    known = [each for each in report.events if each.result != UNKNOWN and each.tool]
    asks, denials = sum(each.after in _ASKS for each in known), sum(each.after == "deny" for each in known)
    number = len(known) or 1
    return {"asks": round(1000 * asks / number, 2), "denials": round(1000 * denials / number, 2)}


def groups_of(report: Report) -> list[dict[str, Any]]:
    """Return asks, denials and what changed, by verdict, hook and cause, the most frequent first."""
    found: dict[tuple[str, ...], list[Replayed]] = defaultdict(list)
    for each in report.events:
        if each.result != UNKNOWN and (each.result != UNCHANGED or each.after in (*_ASKS, "deny")):
            found[each.after, each.hook, each.cause].append(each)
    known = sum(each.result != UNKNOWN and bool(each.tool) for each in report.events) or 1
    ordered = sorted(found.items(), key=lambda group: (-len(group[1]), group[0]))
    return [
        {
            "verdict": verdict,
            "hook": hook,
            "cause": cause,
            "calls": len(events),
            "per_1000": round(1000 * len(events) / known, 2),
            "results": dict(sorted(Counter(each.result for each in events).items())),
            "events": [msgspec.to_builtins(each) for each in events],
        }
        for (verdict, hook, cause), events in ordered
    ]


def as_json(report: Report) -> dict[str, Any]:
    counts = Counter(each.result for each in report.events)
    return {
        "events": len(report.events),
        "sessions": len({(each.client, each.session) for each in report.events}),
        "results": {name: counts[name] for name in RESULTS},
        "per_1000": rates(report),
        "groups": groups_of(report),
        "cannot_be_replayed": _reasons(report),
        "skipped_hooks": report.skipped,
        "failed_hooks": report.failed,
        "not_denied_to_hooks": list(report.not_denied),
    }


def lines_of(report: Report, paint: Colours) -> Iterator[str]:
    """Yield the report as lines for a person, the most frequent causes first."""
    counts = Counter(each.result for each in report.events)
    sessions = len({(each.client, each.session) for each in report.events})
    yield f"{plural(len(report.events), 'event')} of {plural(sessions, 'session')}, decided again"
    for name, words in RESULTS.items():
        if counts[name] or name != UNKNOWN:
            yield f"  {counts[name]:>8,}  {_paint(paint, name, counts[name])(words)}"
    yield from (f"            {number:,}: {visible(why)}" for why, number in _reasons(report).items())
    found = rates(report)
    yield f"per 1,000 calls: {found['asks']:g} asks, {found['denials']:g} denials"
    groups = groups_of(report)
    for group in groups[:SHOWN_GROUPS]:
        yield from _group(group, paint)
    if len(groups) > SHOWN_GROUPS:
        yield f"and {len(groups) - SHOWN_GROUPS} more causes: `--json` lists all"
    yield from _remarks(report, paint)


def write_junit(report: Report, path: Path) -> None:
    """Write one test case for each call: a changed verdict is a failure, what cannot be replayed is skipped."""
    counts = Counter(each.result for each in report.events)
    changed = len(report.events) - counts[UNCHANGED] - counts[UNKNOWN]
    root = ElementTree.Element("testsuites", name="snell replay")
    numbers = {"tests": len(report.events), "failures": changed, "errors": 0, "skipped": counts[UNKNOWN]}
    suite = ElementTree.SubElement(root, "testsuite", {"name": "replay", **{key: str(n) for key, n in numbers.items()}})
    for each in report.events:
        name = visible(f"{each.name} {each.tool} {each.id or each.number}")
        case = ElementTree.SubElement(suite, "testcase", classname=visible(each.session), name=name)
        if each.result != UNCHANGED:
            message = visible(f"{RESULTS[each.result]}: {each.why}")
            kind = "skipped" if each.result == UNKNOWN else "failure"
            ElementTree.SubElement(case, kind, message=message).text = visible(each.given)
    ElementTree.indent(root)
    write_atomically(path, ElementTree.tostring(root, encoding="utf-8", xml_declaration=True) + b"\n")


def write_sarif(report: Report, path: Path) -> None:
    """Write every changed verdict as a result of SARIF 2.1.0, with the hook as its rule."""
    changed = [each for each in report.events if each.result not in (UNCHANGED, UNKNOWN)]
    levels = {DENIED: "error", ASKED: "warning"}
    results = [
        {
            "ruleId": each.hook or "none",
            "level": levels.get(each.result, "note"),
            "message": {"text": visible(f"{RESULTS[each.result]}: {each.why or each.before}")},
            "partialFingerprints": {"decision": each.id or f"{each.session}/{each.number}"},
            "locations": [{"logicalLocations": [{"name": each.tool, "fullyQualifiedName": visible(each.given)}]}],
        }
        for each in changed
    ]
    rules = [{"id": hook} for hook in sorted({str(each["ruleId"]) for each in results})]
    tool = {"driver": {"name": "snell replay", "rules": rules}}
    whole = {"version": "2.1.0", "$schema": _SCHEMA, "runs": [{"tool": tool, "results": results}]}
    write_atomically(path, msgspec.json.format(msgspec.json.encode(whole), indent=2) + b"\n")


def _group(group: dict[str, Any], paint: Colours) -> Iterator[str]:
    colour = {"deny": paint.red, "ask": paint.yellow, "defer": paint.yellow}.get(group["verdict"], paint.green)
    changed = [f"{n:,} {RESULTS[name]}" for name, n in group["results"].items() if name != UNCHANGED]
    more = f"  ({', '.join(changed)})" if changed else ""
    head = f"{colour(group['verdict'])}  {visible(group['hook'] or '-')}  {visible(group['cause'])}{more}"
    yield f"{group['per_1000']:>8g}  {group['calls']:>5,}  {head}"
    for each in group["events"][:SHOWN_EVENTS]:
        opened = f"snell why {each['id']}" if each["id"] else f"session {each['session'][:8]} {each['number']}"
        yield f"{'':17}{visible(each['tool'])} {visible(each['given'])}  {paint.dim(visible(opened))}"


def _reasons(report: Report) -> dict[str, int]:
    unknown = Counter(each.cause for each in report.events if each.result == UNKNOWN)
    return dict(sorted(unknown.items(), key=lambda each: (-each[1], each[0])))


def _remarks(report: Report, paint: Colours) -> Iterator[str]:
    note = paint.yellow("note")
    for hook, number in report.skipped.items():
        yield f"{note}  {visible(hook)} was skipped {plural(number, 'time')}"
    for hook, number in report.failed.items():
        yield f"{note}  `{visible(hook)}` failed {plural(number, 'time')}: it may need a file or a connection"
    if report.not_denied:
        yield f"{note}  this system could not keep hooks from {', '.join(report.not_denied)}"


def _paint(paint: Colours, name: str, number: int) -> Any:
    return paint.red if number and name == DENIED else paint.yellow if number and name == ASKED else str
