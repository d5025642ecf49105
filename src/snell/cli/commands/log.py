"""List recent decisions from the journal, newest last, or explain one."""

import argparse
import os
import time
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from snell.cli.call_summary import About, about
from snell.cli.terminal import COLOURS_OF_VERDICTS, Colours, align, visible
from snell.clients import canonical_name
from snell.engine.explain import explain
from snell.model.effects import Verdict
from snell.model.errors import SnellError
from snell.operations.journal import wait_for_traces
from snell.records.decisions import Row
from snell.runtime.app import database_of
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
    database = database_of(places(os.environ))
    journal = StoreJournal(database)
    filters = {name: value for name in _FILTERS if (value := getattr(args, name))}
    rows = _find(journal, filters, args.limit)
    wait_for_traces(database)
    found = database.run(lambda tx: [(row, about(tx, row)) for row in rows], only_reads=True)
    paint = Colours.for_stdout()
    for line in map(_json, found) if args.json else _lines(found, paint):
        print(line)
    if not rows and not args.json:
        print(_nothing(journal, filters))
    if (pause := current_pause(places(os.environ))) and not args.json:
        print(paint.yellow(f"{pause}: only policy hooks run"))
    return 0


def _json(found: tuple[Row, About]) -> str:
    """Return a decision as JSON, with what it was about and the sub-agent that the event is about."""
    row, its = found
    agent = {name: its.record.get(name, "") for name in ("agent_id", "agent_type")}
    return msgspec.json.encode({**msgspec.structs.asdict(row), **agent, **its.fields()}).decode()


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
        return "no decisions yet; `snell fire --command 'rm -rf /'` makes one without running anything"
    empty = {name: value for name, value in filters.items() if not _find(journal, {name: value}, 1)}
    named = [f"`--{name} {visible(value)}`" for name, value in (empty or filters).items()]
    return f"no decision matches {' or '.join(named)}" if empty else f"no decision matches {' and '.join(named)}"


def _reason(its: About, verdict: str) -> str:
    """Return the hook that decided, and its reason."""
    runs = [run for each in its.record.get("rounds", ()) for run in each["runs"]]
    effects = ((run["hook"], str(effect)) for run in runs for effect in run.get("effects", ()))
    reasons = (f"{hook}: {effect}" for hook, effect in effects if effect.partition(":")[0] == verdict)
    return visible(next(reasons, "")).replace(f": {verdict}: ", ": ") if verdict != "no_opinion" else ""


def _lines(found: Sequence[tuple[Row, About]], paint: Colours) -> Iterator[str]:
    """Yield one line for each decision, in columns."""
    for (row, _), line in zip(found, align([_cells(*each) for each in found]) if found else (), strict=True):
        colour = getattr(paint, COLOURS_OF_VERDICTS.get(row.verdict, "dim"))
        yield line[:START] + colour(row.verdict) + line[START + len(row.verdict) :]


def _cells(row: Row, its: About) -> list[str]:
    when = time.strftime("%m-%d %H:%M:%S", time.localtime(row.at / 1000))
    signs = ("rewritten " if row.rewritten else "") + (f"{row.failures} failed " if row.failures else "")
    place = [row.client, visible(its.project), row.session_id[:8], row.id, f"{row.ms:.1f} ms"]
    call = its.call if len(its.call) <= CALL else f"{its.call[: CALL - 1]}…"
    return [when, row.verdict, row.event, row.tool, call, *place, f"{signs}{_reason(its, row.verdict)[:LONGEST]}"]
