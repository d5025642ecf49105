"""List recent decisions from the journal, newest last, or explain one."""

import argparse
import os
import time
from collections.abc import Mapping

import msgspec

from snell.cli.terminal import COLOURS_OF_VERDICTS, Colours, visible
from snell.clients import canonical_name
from snell.engine.explain import explain
from snell.model.effects import Verdict
from snell.model.errors import SnellError
from snell.model.protocols import Database
from snell.operations.journal import wait_for_traces
from snell.records import decisions
from snell.records.decisions import Row
from snell.runtime.app import database_of
from snell.runtime.database_journal import StoreJournal
from snell.settings.pause import current_pause
from snell.system.paths import places

LONGEST = 160  # characters of a reason
VERDICTS = tuple(map(str, Verdict))
_FILTERS = ("session", "hook", "verdict", "client", "event")


def run(args: argparse.Namespace) -> int:
    if not 1 <= args.limit <= 10_000:
        raise SnellError("--limit must be between 1 and 10,000", where=f"`{args.limit}`")
    database = database_of(places(os.environ))
    journal = StoreJournal(database)
    filters = {name: value for name in _FILTERS if (value := getattr(args, name))}
    rows = _find(journal, filters, args.limit)
    paint = Colours.for_stdout()
    for row in rows:
        print(_json(row, database) if args.json else _line(row, paint, _reason(journal, row)))
    if not rows and not args.json:
        print(_nothing(journal, filters))
    if (pause := current_pause(places(os.environ))) and not args.json:
        print(paint.yellow(f"{pause}: only policy hooks run"))
    return 0


def _json(row: Row, database: Database) -> str:
    """Return a decision as JSON, with the sub-agent that the event is about."""
    trace = database.run(lambda tx: decisions.trace(tx, row.id), only_reads=True)
    record = msgspec.json.decode(trace.body) if trace and trace.body else {}
    agent = {name: record.get(name, "") for name in ("agent_id", "agent_type")}
    return msgspec.json.encode({**msgspec.structs.asdict(row), **agent}).decode()


def explain_decision(args: argparse.Namespace) -> int:
    database = database_of(places(os.environ))
    journal = StoreJournal(database)
    journal.take_in()
    wait_for_traces(database)
    record = journal.find(args.id)
    mark = Colours.for_stdout().of(record)
    print(msgspec.json.encode(record).decode() if args.json else explain(record, mark))
    return 0


def _find(journal: StoreJournal, filters: Mapping[str, str], limit: int) -> list[Row]:
    asked = {"session_begins" if name == "session" else name: value for name, value in filters.items()}
    if client := filters.get("client"):
        asked["client"] = canonical_name(client)
    return journal.recent(**asked, limit=limit)[::-1]


def _nothing(journal: StoreJournal, filters: Mapping[str, str]) -> str:
    """Say why no decision was found: name the filters that match nothing alone, else all of them together."""
    if not filters:
        return "no decisions yet"
    empty = {name: value for name, value in filters.items() if not _find(journal, {name: value}, 1)}
    named = [f"`--{name} {visible(value)}`" for name, value in (empty or filters).items()]
    return f"no decision matches {' or '.join(named)}" if empty else f"no decision matches {' and '.join(named)}"


def _reason(journal: StoreJournal, row: Row) -> str:
    """Return the hook that decided, and its reason."""
    if row.verdict == "no_opinion":
        return ""
    runs = [run for each in journal.find(row.id).get("rounds", ()) for run in each["runs"]]
    effects = ((run["hook"], str(effect)) for run in runs for effect in run.get("effects", ()))
    reasons = (f"{hook}: {effect}" for hook, effect in effects if effect.partition(":")[0] == row.verdict)
    return visible(next(reasons, "")).replace(f": {row.verdict}: ", ": ")


def _line(row: Row, paint: Colours, reason: str) -> str:
    when = time.strftime("%m-%d %H:%M:%S", time.localtime(row.at / 1000))
    signs = ("rewritten " if row.rewritten else "") + (f"{row.failures} failed" if row.failures else "")
    verdict = getattr(paint, COLOURS_OF_VERDICTS.get(row.verdict, "dim"))(f"{row.verdict:<10}")
    start = f"{when}  {verdict} {row.event:<18} {row.tool:<14} {row.ms:>7.1f} ms  {row.session_id[:8]:<8}  {row.id}"
    return f"{start}  {signs}{reason[:LONGEST]}".rstrip()
