"""Run an agent under a supervisor that restarts it when its context is full; the next session resumes the effort."""

import argparse
import os
import sys

from snell.cli.call_operation import call_operation
from snell.daemon.client import DaemonError, NoDaemonError, ask
from snell.model.errors import SnellError
from snell.system.paths import places
from snell.system.supervisor import Restart, Run, supervise
from snell.system.transcripts import tail_of
from snell.work.session_events import restart_prompt
from snell.work.transcript_end import find_failure

EXAMPLE = "snell run -- claude"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--restarts", type=int, default=10, help="the maximum number of restarts (default: 10)")
    parser.add_argument("--fleet", action="store_true", help="give the agent a generated name (AGENT_ID)")
    parser.add_argument("--agent", default="", help="the agent's name (default: AGENT_ID)")
    parser.add_argument("command", nargs=argparse.REMAINDER, metavar="-- AGENT ...", help="the command to run")


def run(args: argparse.Namespace) -> int:
    command = args.command[1:] if args.command[:1] == ["--"] else args.command
    if not command:
        raise SnellError("no command was given", advice=f"for example `{EXAMPLE}`")
    id_ = os.urandom(6).hex()
    code = supervise(
        Run(
            command=command,
            env=_environment(id_, args),
            wanted=lambda: _restart(_poll(id_)),
            left=lambda: _restart_after_exit(id_),
            tell=lambda text: print(f"snell: {text}", file=sys.stderr, flush=True),
            most=args.restarts,
        )
    )
    call_operation("run.forget", {"run": id_})
    return code if code >= 0 else 128 - code


def _environment(id_: str, args: argparse.Namespace) -> dict[str, str]:
    name = args.agent or os.environ.get("AGENT_ID") or (f"agent-{id_[:6]}" if args.fleet else "")
    return {**os.environ, "SNELL_RUN": "1", "SNELL_SUPERVISOR": id_, **({"AGENT_ID": name} if name else {})}


def _poll(id_: str) -> dict[str, object]:
    """Return what the daemon knows about this run; nothing without a daemon, since then no hook ran."""
    try:
        answer = ask(places(os.environ).run, "run.poll", {"run": id_})
    except DaemonError:
        return {}
    return answer if isinstance(answer, dict) else {}


def _restart_after_exit(id_: str) -> Restart | None:
    """Return how to restart an agent that exited: if a restart was requested, or if its context was full."""
    known = _poll(id_) or _poll_store(id_)
    restart = _restart(known)
    session = known.get("session")
    transcript = session.get("transcript") if isinstance(session, dict) else ""
    if restart is None and isinstance(transcript, str) and find_failure(tail_of(transcript)) == "exhausted":
        return Restart("exhausted", restart_prompt(None))
    return restart


def _poll_store(id_: str) -> dict[str, object]:
    try:
        answer = call_operation("run.poll", {"run": id_})
    except NoDaemonError:
        return {}
    return answer if isinstance(answer, dict) else {}


def _restart(known: dict[str, object]) -> Restart | None:
    wanted = known.get("restart")
    if not isinstance(wanted, dict):
        return None
    return Restart(str(wanted.get("reason") or "asked for"), str(wanted.get("prompt") or restart_prompt(None)))
