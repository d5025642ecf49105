"""Show a report in the terminal, as JSON and as JUnit XML."""

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import msgspec

from snell.cli.terminal import Colours, plural, visible
from snell.coverage.report import HOLES, ClientReport, JudgedCall
from snell.system.files import write_atomically

SHOWN = 20  # holes of a client that are listed
WORDS = {
    "seen": "seen",
    "missed": "missed",
    "ran_anyway": "refused but run anyway",
    "not_run": "not run",
    "unreported": "not reported by the client",
    "unknown": "unknown",
}


def lines_of(reports: Sequence[ClientReport], paint: Colours) -> Iterator[str]:
    """Yield the report as lines for a person, holes first."""
    for report in reports:
        yield f"{paint.bold(report.client.replace('_', '-'))}  {summary_of(report)}"
        for call in report.holes[:SHOWN]:
            yield from _hole(call, paint)
        if len(report.holes) > SHOWN:
            yield f"  and {len(report.holes) - SHOWN} more: `--json` lists all"
        yield from (f"  {paint.yellow('note')}  {visible(each)}" for each in report.remarks)
        yield from _reasons(report)
        if report.cause:
            yield f"  cause: {visible(report.cause)}{f'; {report.advice}' if report.advice else ''}"
    yield total_of(reports)


def total_of(reports: Sequence[ClientReport]) -> str:
    """Return the whole report in one line."""
    counts = sum((report.counts for report in reports), Counter[str]())
    holes = sum(counts[each] for each in HOLES)
    compared = holes + counts["seen"]
    if not compared:
        return "no tool call could be compared"
    if not holes:
        return f"hooks saw all {compared} tool calls that could be compared"
    return f"{holes} of {plural(compared, 'tool call')} ran without hooks or against them"


def as_json(reports: Sequence[ClientReport]) -> dict[str, Any]:
    clients = [{**msgspec.to_builtins(each), "counts": dict(each.counts)} for each in reports]
    return {"ok": not any(each.holes for each in reports), "summary": total_of(reports), "clients": clients}


def write_junit(reports: Sequence[ClientReport], path: Path) -> None:
    """Write one test case for each call: a hole is a failure, and what cannot be known is skipped."""
    root = ElementTree.Element("testsuites", name="snell coverage")
    for report in reports:
        counts = report.counts
        suite = ElementTree.SubElement(
            root,
            "testsuite",
            name=report.client.replace("_", "-"),
            tests=str(len(report.calls)),
            failures=str(len(report.holes)),
            errors="0",
            skipped=str(len(report.calls) - len(report.holes) - counts["seen"]),
        )
        for call in report.calls:
            name = visible(f"{call.tool} {call.number or call.at}")
            case = ElementTree.SubElement(suite, "testcase", classname=visible(call.session_id), name=name)
            if call.result != "seen":
                kind = "failure" if call.result in HOLES else "skipped"
                about = ElementTree.SubElement(case, kind, message=visible(f"{WORDS[call.result]}: {call.why}"))
                about.text = visible(call.given)
    ElementTree.indent(root)
    write_atomically(path, ElementTree.tostring(root, encoding="utf-8", xml_declaration=True) + b"\n")


def summary_of(report: ClientReport) -> str:
    """Return what was seen of one client, in one line."""
    if report.unknown:
        return report.unknown
    counts = report.counts
    parts = [f"{counts[name]} {text}" for name, text in WORDS.items() if counts[name]]
    return f"{plural(report.conversations, 'conversation')}: {', '.join(parts) or 'no tool call'}"


def _hole(call: JudgedCall, paint: Colours) -> Iterator[str]:
    when = time.strftime("%m-%d %H:%M:%S", time.localtime(call.at / 1000))
    of = f"session {call.session_id[:8]}{f', sub-agent {call.agent}' if call.agent else ''}"
    word = "missed" if call.result == "missed" else "ran anyway"
    yield f"  {paint.red(word)}  {when}  {visible(call.tool)} {visible(call.given)}  ({visible(of)})"
    yield f"      {visible(call.why)}{f'; `snell why {call.decision}`' if call.decision else ''}"


def _reasons(report: ClientReport) -> Iterator[str]:
    """Say once why calls are unknown or not reported, with how many."""
    reasons = Counter((each.result, each.why) for each in report.calls if each.result in ("unknown", "unreported"))
    for (result, why), times in reasons.most_common(5):
        yield f"  {times} {WORDS[result]}: {visible(why)}"
