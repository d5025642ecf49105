"""Decide recorded events again and compare; the exit code is 1 with `--exit-code` if a verdict changed."""

import argparse
import os
import tempfile
import time
from pathlib import Path

from snell.cli.progress import Progress
from snell.cli.read_journal import read_journal
from snell.cli.terminal import Colours, print_json
from snell.clients import canonical_name, client_named
from snell.conversations.record import duration_ms
from snell.model.errors import SnellError
from snell.replay.compare import UNCHANGED, UNKNOWN
from snell.replay.decisions import EventFilter, find_row, recorded_sessions, session_of, sessions_in, up_to
from snell.replay.output import as_json, lines_of, write_junit, write_sarif
from snell.replay.run import Report, replay_all
from snell.replay.transcripts import transcript_sessions
from snell.replay.variant import build_variant
from snell.settings.load import PRESETS  # noqa: F401 - commands.json names it
from snell.setup.plan import Site
from snell.system.paths import places


def run(args: argparse.Namespace) -> int:
    report = _replay_decision(args) if args.decision else _replay(args)
    if not report.events:
        source = "transcripts" if args.transcripts is not None else "decisions"
        raise SnellError(f"there are no recorded {source} that match", advice="`--since` names a longer time")
    if args.junit:
        write_junit(report, Path(args.junit))
    if args.sarif:
        write_sarif(report, Path(args.sarif))
    if args.json:
        print_json({**as_json(report), **({"decision": report.events[0]} if args.decision else {})})
    else:
        for line in lines_of(report, Colours.for_stdout()):
            print(line)  # noqa: T201 - a command prints its report
    changed = any(each.result not in (UNCHANGED, UNKNOWN) for each in report.events)
    return 1 if args.exit_code and changed else 0


def _replay_decision(args: argparse.Namespace) -> Report:
    """Decide the session of one decision again up to it, since hooks may know what came before, and report only it."""
    where, env = places(os.environ), dict(os.environ)
    with tempfile.TemporaryDirectory(prefix="snell-replay-") as folder, read_journal(where) as (database, journal):
        row = find_row(database, journal.find(args.decision)["id"])
        sessions = [[*up_to(each, row.id)] for each in recorded_sessions(database, where, session_of(database, row))]
        variant = build_variant(args, where, env, Path(folder))
        with Progress("deciding events again", sum(map(len, sessions))) as progress:
            report = replay_all([each for each in sessions if each], variant, env, progress.reach)
    report.events = [each for each in report.events if each.id == row.id]
    return report


def _replay(args: argparse.Namespace) -> Report:
    where, env = places(os.environ), dict(os.environ)
    client = canonical_name(args.client) if args.client else ""
    if client:
        client_named(client)
    asked = EventFilter(int(time.time() * 1000) - duration_ms(args.since), args.session, client)
    with tempfile.TemporaryDirectory(prefix="snell-replay-") as folder:
        variant = build_variant(args, where, env, Path(folder))
        if args.transcripts is not None:
            sessions = transcript_sessions(asked, Site.here(env, Path.cwd()), args.transcripts)
            with Progress("deciding events again") as progress:
                return replay_all(sessions, variant, env, progress.reach)
        with read_journal(where) as (database, _):
            total = sum(number for _, number in sessions_in(database, asked))
            with Progress("deciding events again", total) as progress:
                return replay_all(recorded_sessions(database, where, asked), variant, env, progress.reach)
