"""Verify the integrity of the audit log."""

import argparse
import os
from contextlib import closing

from snell.cli.terminal import Colours, print_json
from snell.records.audit_check import Findings
from snell.records.audit_log import AuditLog
from snell.runtime.app import database_of
from snell.runtime.database_journal import StoreJournal
from snell.system.paths import places

SHOWN = 20
WAIT_SECONDS = 15.0  # new records are chained within ten seconds


def run(args: argparse.Namespace) -> int:
    where = places(os.environ)
    with closing(database_of(where)) as database:
        StoreJournal(database).take_in()  # records of a process that was killed
        found = AuditLog(database, where.state).verify(deadline=WAIT_SECONDS)
    if args.json:
        print_json(found)
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
