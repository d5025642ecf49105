"""Compare what clients recorded with what hooks saw; the exit code is 1 if a call ran without them."""

import argparse
import os
import time
from pathlib import Path

import msgspec

from snell.cli.health import Installation
from snell.cli.read_journal import read_journal
from snell.cli.terminal import Colours, print_json
from snell.clients import canonical_name, client_named
from snell.conversations.record import duration_ms
from snell.coverage.output import as_json, lines_of, total_of, write_junit
from snell.coverage.report import ClientReport, ReportScope, build_report
from snell.setup.plan import Site
from snell.system.files import write_atomically
from snell.system.paths import make_private, places


def run(args: argparse.Namespace) -> int:
    where, now = places(os.environ), int(time.time() * 1000)
    client = canonical_name(args.client) if args.client else ""
    if client:
        client_named(client)
    asked = ReportScope(since=now - duration_ms(args.since), now=now, session=args.session, client=client)
    reports = compare(asked, Installation(where, dict(os.environ), Path.cwd()))
    if args.junit:
        write_junit(reports, Path(args.junit))
    if args.json:
        print_json(as_json(reports))
    else:
        for line in lines_of(reports, Colours.for_stdout()):
            print(line)  # noqa: T201 - a command prints its report
    return 1 if any(each.holes for each in reports) else 0


def compare(asked: ReportScope, installation: Installation) -> list[ClientReport]:
    """Return the report about this machine; its sum is kept for the status line if nothing is left out."""
    where = installation.where
    with read_journal(where) as (database, _):
        reports = build_report(asked, Site.here(installation.env, installation.cwd), where, database)
    if not (asked.client or asked.session):
        summary = {"at": asked.now, "holes": sum(len(each.holes) for each in reports), "text": total_of(reports)}
        make_private(where.state)
        write_atomically(where.state / "coverage.json", msgspec.json.encode(summary))
    return reports
