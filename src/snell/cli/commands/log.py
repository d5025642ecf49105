"""The journal: the last decisions, newest last."""

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
    parser.add_argument("-n", "--limit", type=int, default=20, help="how many (default: 20)")
    parser.add_argument("--session", default="", help="only of the session whose id begins like this")
    parser.add_argument("--hook", default="", help="only where this hook ran; its pack may be left out")
    parser.add_argument("--verdict", default="", choices=[*map(str, Verdict)], metavar="VERDICT", help=_VERDICTS)
    parser.add_argument("--client", default="", help="only from this client")
    parser.add_argument("--event", default="", help="only of this event")
    parser.add_argument("--json", action="store_true", help="print a JSON object for each")


def run(args: argparse.Namespace) -> int:
    if not 1 <= args.limit <= 10_000:
        raise SnellError(f"`{args.limit}` is not a number of decisions", advice="ask for 1 to 10,000")
    journal = StoreJournal(database_of(places(os.environ)))
    filters = {name: value for name in _FILTERS if (value := getattr(args, name))}
    rows = _found(journal, filters, args.limit)
    paint = Colours.for_stdout()
    for row in rows:
        print(msgspec.json.encode(row).decode() if args.json else _line(row, paint, _spoken(journal, row)))
    if not rows and not args.json:
        print(_nothing(journal, filters))
    if (pause := current_pause(places(os.environ))) and not args.json:
        print(paint.yellow(f"{pause}: only policy hooks run"))
    return 0


def _found(journal: StoreJournal, filters: Mapping[str, str], limit: int) -> list[Row]:
    asked = {"session_begins" if name == "session" else name: value for name, value in filters.items()}
    if client := filters.get("client"):
        asked["client"] = canonical_name(client)
    return journal.recent(**asked, limit=limit)[::-1]


def _nothing(journal: StoreJournal, filters: Mapping[str, str]) -> str:
    """Why there is nothing to show: those of the filters that find nothing even alone, else all of them together."""
    if not filters:
        return "there is no decision yet"
    empty = {name: value for name, value in filters.items() if not _found(journal, {name: value}, 1)}
    named = [f"`--{name} {visible(value)}`" for name, value in (empty or filters).items()]
    return f"no decision fits {' or '.join(named)}" if empty else f"no decision fits {' and '.join(named)} together"


def _spoken(journal: StoreJournal, row: Row) -> str:
    """Which hook decided, and in what words."""
    if row.verdict == "no_opinion":
        return ""
    runs = [run for each in journal.find(row.id).get("rounds", ()) for run in each["runs"]]
    told = (f"{run['hook']}: {effect}" for run in runs for effect in run.get("effects", ()) if _decided(effect, row))
    return visible(next(told, "")).replace(f": {row.verdict}: ", ": ")


def _decided(effect: object, row: Row) -> bool:
    return str(effect).partition(":")[0] == row.verdict


def _line(row: Row, paint: Colours, spoken: str) -> str:
    when = time.strftime("%m-%d %H:%M:%S", time.localtime(row.at / 1000))
    signs = ("rewritten " if row.rewritten else "") + (f"{row.failures} failed" if row.failures else "")
    colour = {"deny": paint.red, "ask": paint.yellow, "allow": paint.green}.get(row.verdict, paint.dim)
    verdict = colour(f"{row.verdict:<10}")
    start = f"{when}  {verdict} {row.event:<18} {row.tool:<14} {row.ms:>7.1f} ms  {row.session_id[:8]:<8}  {row.id}"
    return f"{start}  {signs}{spoken[:LONGEST]}".rstrip()


_FILTERS = ("session", "hook", "verdict", "client", "event")
_VERDICTS = "only with this verdict: no_opinion, allow, ask, defer or deny"
