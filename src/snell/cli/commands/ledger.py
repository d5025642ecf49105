"""List, show, count and export tool calls; release a call that is held back."""

import argparse
import csv
import io
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
from msgspec.structs import asdict

from snell.cli import charts
from snell.cli.call_operation import call_operation
from snell.cli.call_summary import about_call
from snell.cli.confirmation import require_person
from snell.cli.progress import Progress
from snell.cli.read_journal import read_journal
from snell.cli.terminal import Colours, has_unicode, print_json, stack, visible, visible_lines
from snell.model.errors import SnellError
from snell.model.protocols import Database
from snell.records import ledger, resume
from snell.records.call_totals import ToolStats, read_stats
from snell.records.ledger import Call
from snell.system.optional_packages import install_advice, missing_message
from snell.system.paths import places

TOOLS_SHOWN = 15
_NO_CALLS = "no calls yet; `snell setup` connects a client, whose tool calls are then listed here"
STATUSES = ("", *ledger.OPEN, *ledger.ENDED)


def run(args: argparse.Namespace) -> int:
    if args.what == "release":
        require_person(os.environ, "`snell ledger release`", args.code)
        answer = call_operation("ledger.release", {"id": args.id})
        if args.id == "lost":
            print("ledger loss acknowledged; calls are allowed again" if answer["released"] else "no ledger was lost")
            return 0
        print(f"{answer['id']} may be repeated" if answer["released"] else f"{answer['id']} was not held back")
        return 0
    with read_journal(places(os.environ)) as (database, _):
        return {"list": _list, "show": _show, "stats": _stats, "export": _export}[args.what](args, database)


def _list(args: argparse.Namespace, database: Database) -> int:
    if not 1 <= args.limit <= 10_000:
        raise SnellError("--limit must be between 1 and 10,000", where=f"`{args.limit}`")
    asked = _filters(args)
    calls = database.run(lambda tx: ledger.recent(tx, asked, args.limit), only_reads=True)
    # Calls that were claimed, but have no ledger row yet or lost it in a crash.
    run = args.run or args.session
    claimed = database.run(lambda tx: resume.calls_from_claims(tx, args.limit, run), only_reads=True)
    calls += [call for call in claimed if all(getattr(call, name) == value for name, value in asked.items() if value)]
    calls = sorted(calls, key=lambda call: (call.created_at, call.tool_call_id))[-args.limit :]
    paint = Colours.for_stdout()
    abouts = database.run(lambda tx: [about_call(tx, call) for call in calls], only_reads=True)
    as_json = (msgspec.json.encode({**asdict(call), **what}).decode() for call, what in zip(calls, abouts, strict=True))
    for line in as_json if args.json else _lines(calls, abouts, paint):
        print(line)
    if not calls and not args.json:
        print("no matching call" if any(asked.values()) else _NO_CALLS)
    return 0


def _filters(args: argparse.Namespace) -> dict[str, str]:
    return {"session_id": args.session, "run_id": args.run, "raw_tool_name": args.tool, "status": args.status}


def _show(args: argparse.Namespace, database: Database) -> int:
    call = database.run(lambda tx: ledger.find_one(tx, args.id), only_reads=True)
    refs = (call.request_ref, call.response_ref)
    input_, output = database.run(lambda tx: [ledger.body(tx, ref) for ref in refs], only_reads=True)
    bodies = {"input": input_[0] if input_ else "", "output": output[0] if output else ""}
    if args.json:
        print_json({**msgspec.to_builtins(call), **bodies})
        return 0
    for name in call.__struct_fields__:
        value = getattr(call, name)
        if value not in ("", 0, "[]"):
            print(f"{name.replace('_', ' '):<24} {_when(value) if name.endswith('_at') else visible_lines(str(value))}")
    for name, body in (("input", input_), ("output", output)):
        if body:
            print(f"\n{name} ({body[1]:,} bytes)\n{visible_lines(body[0])}")
    return 0


def _stats(args: argparse.Namespace, database: Database) -> int:
    stats = read_stats(database, session=args.session, run=args.run)
    if args.json:
        print_json(stats)
    if not stats and not args.json and not args.svg:
        print(_NO_CALLS)
        return 0
    drawn = [
        _chart("calls by tool", stats, lambda each: each.calls, _calls_bar),
        _chart("failures by tool", [each for each in stats if each.failed], lambda each: each.failed, _failures_bar),
        _chart("time by tool", stats, lambda each: each.total_ms, _time_bar),
    ]
    if args.svg:
        Path(args.svg).write_text(charts.svg_charts(drawn), encoding="utf-8")
        print(f"written to {args.svg}", file=sys.stderr)
    if not args.json and not args.svg:
        # The bars get the width that names and labels leave.
        width = max(10, min(charts.WIDEST, shutil.get_terminal_size((120, 24)).columns - 76))
        signs = charts.BLOCKS if has_unicode(sys.stdout) else charts.LETTERS
        print(
            "\n\n".join("\n".join(charts.terminal_chart(chart, Colours.for_stdout(), width, signs)) for chart in drawn)
        )
    return 0


def _export(args: argparse.Namespace, database: Database) -> int:
    count = export(database, _filters(args), args.form, args.to)
    if args.to != "-":
        print(f"{count} calls written to {args.to}", file=sys.stderr)
    return 0


def _chart(
    title: str, stats: list[ToolStats], size: Callable[[ToolStats], int], bar: Callable[[ToolStats], charts.Bar]
) -> charts.Chart:
    """Return a chart, largest bars first, with the number of bars left out."""
    ordered = sorted(stats, key=lambda each: (-size(each), each.tool))
    more = len(ordered) - TOOLS_SHOWN
    return charts.Chart(title, tuple(map(bar, ordered[:TOOLS_SHOWN])), f"and {more} more" if more > 0 else "")


def _calls_bar(each: ToolStats) -> charts.Bar:
    more = [f"{number:,} {word}" for number, word in ((each.failed, "failed"), (each.denied, "denied")) if number]
    return charts.Bar(each.tool, each.calls, each.failed, each.denied, ", ".join([f"{each.calls:,}", *more]))


def _failures_bar(each: ToolStats) -> charts.Bar:
    return charts.Bar(each.tool, each.failed, each.failed, 0, f"{each.failed:,} of {each.calls:,}")


def _time_bar(each: ToolStats) -> charts.Bar:
    mean, longest = _seconds(round(each.total_ms / each.calls)), _seconds(each.longest_ms)
    parts = f", mean {mean}, longest {longest}" if each.calls > 1 else ""
    return charts.Bar(each.tool, each.total_ms, label=f"{_seconds(each.total_ms)}{parts}")


def _lines(calls: Sequence[Call], abouts: Sequence[Mapping[str, str]], paint: Colours) -> Iterator[str]:
    colours = {"failed": paint.red, "denied": paint.yellow, "succeeded": paint.green}
    rows = stack([_cells(*each) for each in zip(calls, abouts, strict=True)])
    for call, (line, *rest) in zip(calls, rows, strict=True):
        yield line.replace(call.status, colours.get(call.status, paint.dim)(call.status), 1)
        yield from rest


def _cells(call: Call, subject: Mapping[str, str]) -> tuple[list[str], ...]:
    """Return what was called and how it ended, and where, with its id."""
    took, tool = f"{_seconds(call.duration_ms):>9}", charts.shorten_middle(call.raw_tool_name, charts.LONGEST_NAME)
    what = [_when(call.created_at), call.status, call.side_effect_class, took, tool, subject["call"]]
    return what, [call.client.replace("_", "-"), visible(subject["project"]), call.tool_call_id]


def _when(ms: int) -> str:
    return time.strftime("%m-%d %H:%M:%S", time.localtime(ms / 1000))


def _seconds(ms: int) -> str:
    if ms < 10_000:
        return f"{ms} ms"
    if ms < 600_000:
        return f"{ms / 1000:.1f} s"
    return f"{ms / 60_000:.0f} min" if ms < 36_000_000 else f"{ms / 3_600_000:,.1f} h"


PAGE = 1_000
COLUMNS = Call.__struct_fields__
_NUMBERS = frozenset(name for name, kind in Call.__annotations__.items() if kind is int)

Pages = Iterator[list[Call]]


def pages(database: Database, asked: Mapping[str, str]) -> Pages:
    """Yield the matching calls in pages, oldest first, so that no reading transaction is long."""
    at = (-1, "")
    while found := database.run(partial(ledger.page, asked=asked, after=at, limit=PAGE), only_reads=True):
        yield found
        at = (found[-1].created_at, found[-1].tool_call_id)


def write_json(found: Pages, out: BinaryIO) -> None:
    for calls in found:
        out.writelines(msgspec.json.encode(call) + b"\n" for call in calls)


def write_csv(found: Pages, out: BinaryIO) -> None:
    """Write CSV; a text that a spreadsheet would read as a formula gets an apostrophe in front."""
    text = io.TextIOWrapper(out, encoding="utf-8", newline="", write_through=True)
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    for calls in found:
        writer.writerows([_cell(getattr(call, name)) for name in COLUMNS] for call in calls)
    text.detach()


def write_parquet(found: Pages, out: BinaryIO) -> None:
    try:
        pyarrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        advice = f"{install_advice('parquet')}, or export as json or csv"
        raise SnellError(f"Parquet cannot be written: {missing_message('parquet')}", advice=advice) from None
    schema = pyarrow.schema([(name, pyarrow.int64() if name in _NUMBERS else pyarrow.string()) for name in COLUMNS])
    with parquet.ParquetWriter(out, schema) as writer:
        for calls in found:
            columns = {name: [getattr(call, name) for call in calls] for name in COLUMNS}
            writer.write_table(pyarrow.table(columns, schema=schema))


FORMATS: Mapping[str, Callable[[Pages, BinaryIO], None]] = {
    "json": write_json,
    "csv": write_csv,
    "parquet": write_parquet,
}


def export(database: Database, asked: Mapping[str, str], form: str, path: str) -> int:
    """Write the matching calls to a file that only its owner can read, or to stdout; return their number."""
    count = 0

    def count_pages() -> Pages:
        nonlocal count
        total = 0 if any(asked.values()) else _count(database)
        with Progress("writing calls", total) as progress:
            for calls in pages(database, asked):
                count += len(calls)
                progress.reach(count)
                yield calls

    if path == "-":
        FORMATS[form](count_pages(), sys.stdout.buffer)
        return count
    partial = Path(f"{path}.part")
    try:
        with open(partial, "wb", opener=lambda name, flags: os.open(name, flags | os.O_NOFOLLOW, 0o600)) as out:
            FORMATS[form](count_pages(), out)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    return count


def _count(database: Database) -> int:
    sql = "SELECT COUNT(*) FROM tool_calls"
    return database.run(lambda tx: int(tx.rows(sql)[0][0]), only_reads=True)


def _cell(value: Any) -> Any:
    if not isinstance(value, str) or not value:
        return value
    # Some programs ignore leading blanks, and some read the full-width forms of these signs as the signs.
    return f"'{value}" if value[0] in "\t\r\n" or value.lstrip()[:1] in tuple("=+-@＝＋－＠") else value
