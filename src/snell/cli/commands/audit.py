"""Verify the integrity of the audit log."""

import argparse
import os

import msgspec

from snell.cli.colours import Colours
from snell.records.audit_check import Findings
from snell.records.audit_log import AuditLog
from snell.runtime.app import database_of
from snell.runtime.database_journal import StoreJournal
from snell.system.paths import places

EXAMPLE = "snell audit verify"
SHOWN = 20
WAIT_SECONDS = 15.0  # new records are chained within ten seconds


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", choices=["verify"], help="verify the chain of records")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(args: argparse.Namespace) -> int:
    where = places(os.environ)
    database = database_of(where)
    try:
        StoreJournal(database).take_in()  # records of a process that was killed
        found = AuditLog(database, where.state).verify(deadline=WAIT_SECONDS)
    finally:
        database.close()
    if args.json:
        print(msgspec.json.encode(found).decode())
    else:
        _show(found, Colours.for_stdout())
    return 0 if found.is_good else 1


def _show(found: Findings, paint: Colours) -> None:
    for name, problems, good in (
        ("integrity", found.integrity, "no record was changed"),
        ("completeness", found.completeness, "no record is missing"),
    ):
        print(f"{name:<13} {paint.red('broken') if problems else paint.green('ok')}"
              f"  {f'{len(problems)} findings' if problems else good}")  # fmt: skip
        for problem in problems[:SHOWN]:
            print(f"  {problem}")
        if len(problems) > SHOWN:
            print(f"  and {len(problems) - SHOWN} more; `--json` prints all")
    for note in found.interrupted:
        print(f"{'interrupted':<13} {note}")
    waiting = f", {found.waiting} not chained yet" if found.waiting else ""
    print(f"{found.decisions} decisions and {found.calls} tool calls, {found.links} links{waiting}")
    if found.earlier:
        print(f"{found.earlier} links were written by an earlier version; their records are trusted as first seen")
