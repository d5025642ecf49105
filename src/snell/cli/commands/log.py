"""List recent decisions from the journal, newest last, or explain one."""

import argparse
import os
import time
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from snell.cli.call_summary import About, about
from snell.cli.read_journal import read_journal
from snell.cli.terminal import COLOURS_OF_VERDICTS, Colours, stack, visible
from snell.clients import canonical_name, client_named
from snell.engine.explain import explain, shorten
from snell.model.decision import OBSERVED
from snell.model.effects import Verdict
from snell.model.errors import SnellError
from snell.model.protocols import Transaction
from snell.records import decisions, ledger
from snell.records.decisions import Row
from snell.runtime.database_journal import StoreJournal
from snell.settings.pause import current_pause
from snell.system.paths import places

LONGEST = 160  # characters of a reason
CALL = 60  # characters of a call
START = len("01-31 23:59:59  ")  # where the verdict begins
VERDICTS = tuple(map(str, Verdict))
_FILTERS = ("session", "hook", "verdict", "client", "event")


def run(args: argparse.Namespace) -> int:
    if not 1 <= args.limit <= 10_000:
        raise SnellError("--limit must be between 1 and 10,000", where=f"`{args.limit}`")
    filters = {name: value for name in _FILTERS if (value := getattr(args, name))}
    with read_journal(places(os.environ)) as (database, journal):
        rows = _find(journal, filters, args.limit)
        found = database.run(lambda tx: [(row, about(tx, row)) for row in rows], only_reads=True)
        nothing = "" if rows or journal.unread else _nothing(journal, filters)
    paint = Colours.for_stdout()
    for line in map(_json, found) if args.json else _lines(found, paint):
        print(line)
    if nothing and not args.json:
        print(nothing)
    if (pause := current_pause(places(os.environ))) and not args.json:
        print(paint.yellow(f"{pause}: only policy hooks run"))
    return 0


def _json(found: tuple[Row, About]) -> str:
    """Return a decision as JSON, with what it was about and the sub-agent that the event is about."""
    row, subject = found
    agent = {name: subject.record.get(name, "") for name in ("agent_id", "agent_type")}
    return msgspec.json.encode({**msgspec.structs.asdict(row), **agent, **subject.fields()}).decode()


def explain_decision(args: argparse.Namespace) -> int:
    with read_journal(places(os.environ)) as (database, journal):
        record = journal.find(database.run(lambda tx: _decision_of(tx, args.id), only_reads=True))
    mark = Colours.for_stdout().of(record)
    print(msgspec.json.encode(record).decode() if args.json else explain(record, mark))
    return 0


def _decision_of(tx: Transaction, wanted: str) -> str:
    """Return a decision's id, also for the id of a tool call, or for a session, whose last decision is meant."""
    if wanted == "last" or decisions.find(tx, wanted):
        return wanted
    calls = ledger.find_by_prefix(tx, wanted)
    rows = decisions.recent(tx, session_begins=wanted, limit=1)
    return calls[0].decision_id if len(calls) == 1 else rows[0].id if rows else wanted


def _find(journal: StoreJournal, filters: Mapping[str, str], limit: int) -> list[Row]:
    asked = {"session_begins" if name == "session" else name: value for name, value in filters.items()}
    if client := filters.get("client"):
        asked["client"] = canonical_name(client)
    return journal.recent(**asked, limit=limit)[::-1]


def _nothing(journal: StoreJournal, filters: Mapping[str, str]) -> str:
    """Say why no decision was found: name the filters that match nothing alone, else all of them together."""
    if not filters:
        return "no decisions yet; `snell fire --command 'rm -rf /'` makes one without running anything"
    empty = {name: value for name, value in filters.items() if not _find(journal, {name: value}, 1)}
    if "client" in empty:
        client_named(filters["client"])  # a misspelt name is an error
    named = [f"`--{name} {visible(value)}`" for name, value in (empty or filters).items()]
    return f"no decision matches {' or '.join(named)}" if empty else f"no decision matches {' and '.join(named)}"


def _reason(subject: About, verdict: str) -> str:
    """Return the hook that decided, and its reason."""
    runs = [run for each in subject.record.get("rounds", ()) for run in each["runs"]]
    effects = ((run["hook"], str(effect)) for run in runs for effect in run.get("effects", ()))
    reasons = (f"{hook}: {effect}" for hook, effect in effects if effect.partition(":")[0] == verdict)
    if verdict != "no_opinion":
        return visible(next(reasons, "")).replace(f": {verdict}: ", ": ")
    remarks = (f"{run['hook']}: {each}" for run in runs for each in run.get("remarks", ()) if OBSERVED in each)
    return visible(next(remarks, ""))


def _lines(found: Sequence[tuple[Row, About]], paint: Colours) -> Iterator[str]:
    for (row, _), (line, *rest) in zip(found, stack([_cells(*each) for each in found]), strict=True):
        colour = getattr(paint, COLOURS_OF_VERDICTS.get(row.verdict, "dim"))
        yield line[:START] + colour(row.verdict) + line[START + len(row.verdict) :]
        yield from rest


def _cells(row: Row, subject: About) -> tuple[list[str], ...]:
    """Return what was called and decided; where, with the id; and why."""
    when = time.strftime("%m-%d %H:%M:%S", time.localtime(row.at / 1000))
    signs = ("rewritten " if row.rewritten else "") + (f"{row.failures} failed " if row.failures else "")
    call = subject.call if len(subject.call) <= CALL else f"{subject.call[: CALL - 1]}…"
    place = [row.client.replace("_", "-"), visible(subject.project), row.session_id[:8], row.id, f"{row.ms:.1f} ms"]
    return (
        [when, row.verdict, row.event, row.tool, call],
        place,
        [f"{signs}{shorten(_reason(subject, row.verdict), LONGEST)}"],
    )
