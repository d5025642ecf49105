"""Compare what clients recorded with what hooks saw; the exit code is 1 if a call ran without them."""

import argparse
import os
import re
import time
from contextlib import closing
from pathlib import Path

from snell.cli.health import Installation
from snell.cli.terminal import Colours, print_json
from snell.clients import canonical_name, client_named
from snell.coverage.output import as_json, lines_of, write_junit
from snell.coverage.report import Asked, ClientReport, build_report
from snell.coverage.summary import keep_summary
from snell.model.errors import SnellError
from snell.runtime.app import database_of
from snell.runtime.database_journal import StoreJournal
from snell.setup.plan import Site
from snell.system.paths import places

_DURATION = re.compile(r"(\d{1,5})([mhdw])")
_MINUTES = {"m": 1, "h": 60, "d": 1_440, "w": 10_080}


def run(args: argparse.Namespace) -> int:
    where, now = places(os.environ), int(time.time() * 1000)
    client = canonical_name(args.client) if args.client else ""
    if client:
        client_named(client)
    asked = Asked(since=now - milliseconds(args.since), now=now, session=args.session, client=client)
    reports = compare(asked, Installation(where, dict(os.environ), Path.cwd()))
    if args.junit:
        write_junit(reports, Path(args.junit))
    if args.json:
        print_json(as_json(reports))
    else:
        for line in lines_of(reports, Colours.for_stdout()):
            print(line)  # noqa: T201 - a command prints its report
    return 1 if any(each.holes for each in reports) else 0


def compare(asked: Asked, installation: Installation) -> list[ClientReport]:
    """Return the report about this machine, and keep its sum if it is about all clients and sessions."""
    where = installation.where
    with closing(database_of(where)) as database:
        StoreJournal(database).take_in()
        reports = build_report(asked, Site.here(installation.env, installation.cwd), where, database)
    if not (asked.client or asked.session):
        keep_summary(where.state, reports, asked)
    return reports


def milliseconds(text: str) -> int:
    """Return a duration such as `7d`, `12h`, `30m` or `2w`. Raises SnellError for any other text."""
    found = _DURATION.fullmatch(text.strip())
    if not found or not int(found[1]):
        raise SnellError(f"`--since {text}` is not a duration", advice="write it like 7d, 12h, 30m or 2w")
    return int(found[1]) * _MINUTES[found[2]] * 60_000
