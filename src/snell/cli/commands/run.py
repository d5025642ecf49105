"""Run an agent under a supervisor that restarts it when its context is full; the next session resumes the effort."""

import argparse
import os
import sys
from contextlib import suppress

from snell.cli.call_operation import call_operation
from snell.cli.command_table import ROWS
from snell.daemon.client import DaemonError, NoDaemonError, ask
from snell.model.errors import SnellError
from snell.model.events import as_table
from snell.system.paths import places
from snell.system.supervisor import Restart, Run, supervise
from snell.system.transcripts import tail_of
from snell.work.supervisor_state import restart_prompt
from snell.work.transcript_end import find_failure


def run(args: argparse.Namespace) -> int:
    command = args.command[1:] if args.command[:1] == ["--"] else args.command
    if not command:
        raise SnellError("no command was given", advice=f"for example `{ROWS['run'].example}`")
    id_ = os.urandom(6).hex()
    name = args.agent or os.environ.get("AGENT_ID") or (f"agent-{id_[:6]}" if args.fleet else "")
    code = supervise(
        Run(
            command=command,
            env={**os.environ, "SNELL_RUN": "1", "SNELL_SUPERVISOR": id_, **({"AGENT_ID": name} if name else {})},
            wanted=lambda: _restart(_poll(id_)),
            left=lambda: _restart_after_exit(id_),
            tell=lambda text: print(f"snell: {text}", file=sys.stderr, flush=True),
            most=args.restarts,
        )
    )
    call_operation("run.forget", {"run": id_})
    return code if code >= 0 else 128 - code


def _poll(id_: str) -> dict[str, object]:
    """Return what the daemon knows about this run; nothing without a daemon, since then no hook ran."""
    with suppress(DaemonError):
        return as_table(ask(places(os.environ).run, "run.poll", {"run": id_}))
    return {}


def _restart_after_exit(id_: str) -> Restart | None:
    """Return how to restart an agent that exited: if a restart was requested, or if its context was full."""
    known = _poll(id_)
    with suppress(NoDaemonError):
        known = known or as_table(call_operation("run.poll", {"run": id_}))
    restart = _restart(known)
    transcript = as_table(known.get("session")).get("transcript")
    if restart is None and isinstance(transcript, str) and find_failure(tail_of(transcript)) == "exhausted":
        return Restart("exhausted", restart_prompt(None))
    return restart


def _restart(known: dict[str, object]) -> Restart | None:
    wanted = known.get("restart")
    if not isinstance(wanted, dict):
        return None
    return Restart(str(wanted.get("reason") or "asked for"), str(wanted.get("prompt") or restart_prompt(None)))
