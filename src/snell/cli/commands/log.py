"""List recent decisions from the journal, newest last."""

import argparse
import os
import time
from collections.abc import Mapping

import msgspec

from snell.cli.colours import Colours, visible
from snell.clients import canonical_name
from snell.model.effects import Verdict
from snell.model.errors import SnellError
from snell.records.decisions import Row
from snell.runtime.app import database_of
from snell.runtime.database_journal import StoreJournal
from snell.settings.pause import current_pause
from snell.system.paths import places

LONGEST = 160  # characters of a reason
EXAMPLE = "snell log --verdict deny"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-n", "--limit", type=int, default=20, help="the maximum number (default: 20)")
    parser.add_argument("--session", default="", help="filter by session id prefix")
    parser.add_argument("--hook", default="", help="filter by hook that ran, with or without its pack's name")
    parser.add_argument("--verdict", default="", choices=[*map(str, Verdict)], metavar="VERDICT", help=_VERDICTS)
    parser.add_argument("--client", default="", help="filter by client")
    parser.add_argument("--event", default="", help="filter by event")
    parser.add_argument("--json", action="store_true", help="print one JSON object per decision")


def run(args: argparse.Namespace) -> int:
    if not 1 <= args.limit <= 10_000:
        raise SnellError("--limit must be between 1 and 10,000", where=f"`{args.limit}`")
    journal = StoreJournal(database_of(places(os.environ)))
    filters = {name: value for name in _FILTERS if (value := getattr(args, name))}
    rows = _find(journal, filters, args.limit)
    paint = Colours.for_stdout()
    for row in rows:
        print(msgspec.json.encode(row).decode() if args.json else _line(row, paint, _reason(journal, row)))
    if not rows and not args.json:
        print(_nothing(journal, filters))
    if (pause := current_pause(places(os.environ))) and not args.json:
        print(paint.yellow(f"{pause}: only policy hooks run"))
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
    reasons = (
        f"{run['hook']}: {effect}" for run in runs for effect in run.get("effects", ()) if _is_decisive(effect, row)
    )
    return visible(next(reasons, "")).replace(f": {row.verdict}: ", ": ")


def _is_decisive(effect: object, row: Row) -> bool:
    return str(effect).partition(":")[0] == row.verdict


def _line(row: Row, paint: Colours, reason: str) -> str:
    when = time.strftime("%m-%d %H:%M:%S", time.localtime(row.at / 1000))
    signs = ("rewritten " if row.rewritten else "") + (f"{row.failures} failed" if row.failures else "")
    colour = {"deny": paint.red, "ask": paint.yellow, "allow": paint.green}.get(row.verdict, paint.dim)
    verdict = colour(f"{row.verdict:<10}")
    start = f"{when}  {verdict} {row.event:<18} {row.tool:<14} {row.ms:>7.1f} ms  {row.session_id[:8]:<8}  {row.id}"
    return f"{start}  {signs}{reason[:LONGEST]}".rstrip()


_FILTERS = ("session", "hook", "verdict", "client", "event")
_VERDICTS = "filter by verdict: no_opinion, allow, ask, defer or deny"
