"""Verify the integrity of the audit log."""

import argparse
import os
import time

from snell.audit.findings import Findings
from snell.audit.progress import show_progress
from snell.audit.verification import Verification
from snell.cli.read_journal import read_journal
from snell.cli.terminal import Colours, print_json
from snell.system.paths import places

SHOWN = 20
WAIT_SECONDS = 15.0  # new records are chained within ten seconds


def run(args: argparse.Namespace) -> int:
    where = places(os.environ)
    with read_journal(where) as (database, _):
        found = Verification(database, where.state, WAIT_SECONDS).run(everything=args.all, progress=show_progress)
    if args.json:
        print_json(found)
    else:
        for line in lines_of(found, Colours.for_stdout()):
            print(line)  # noqa: T201 - a command prints its report
    return 0 if found.is_good else 1


def lines_of(found: Findings, paint: Colours) -> list[str]:
    lines = []
    for name, problems, good in (
        ("integrity", found.integrity, "no record was changed"),
        ("completeness", found.completeness, "no record is missing"),
    ):
        state = paint.red("broken") if problems else paint.green("ok")
        lines.append(f"{name:<13} {state}  {f'{len(problems)} findings' if problems else good}")
        lines += [f"  {problem}" for problem in problems[:SHOWN]]
        if len(problems) > SHOWN:
            lines.append(f"  and {len(problems) - SHOWN} more; `--json` prints all")
    lines += [f"{'interrupted':<13} {note}" for note in found.interrupted]
    waiting = f", {found.waiting} not chained yet" if found.waiting else ""
    counts = f"{found.decisions} decisions, {found.calls} tool calls and {found.memories} memories"
    lines.append(f"{counts}, {found.links} links{waiting}")
    if found.since:
        at = time.strftime("%Y-%m-%d %H:%M", time.localtime(found.since / 1000))
        lines.append(
            f"verified from link {found.before + 1} on; what came before was verified {at}: `--all` does it again"
        )
    if found.unsealed:
        lines.append(f"{found.unsealed} records of an earlier version have no seal yet; the daemon adds it")
    if found.earlier:
        lines.append(
            f"{found.earlier} links were written by an earlier version; their records are trusted as first seen"
        )
    return lines
