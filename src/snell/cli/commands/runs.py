"""Manage runs: work with a budget, which can be cancelled and can wait for a person's approval."""

import argparse
import os
from typing import Any

import msgspec

from snell.cli.call_operation import call_operation
from snell.cli.confirmation import require_person

EXAMPLE = "snell runs start --minutes 30 --calls 100"
_READ_ONLY = ("list", "show")
_WHAT = "`approve` lets a waiting run continue; `replay` queues a call to be made again"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", choices=["start", "list", "show", "cancel", "approve", "finish", "replay"], help=_WHAT)
    parser.add_argument("run", nargs="?", default="", help="the run's id (default: the last)")
    parser.add_argument("--session", default="", help="for `start`: the session that works on it (default: the last)")
    parser.add_argument("--minutes", type=int, help="for `start`: the time budget in minutes (default: 90)")
    parser.add_argument("--steps", type=int, help="for `start`: the budget of prompts (default: 50)")
    parser.add_argument("--calls", type=int, help="for `start`: the budget of tool calls (default: 250)")
    parser.add_argument("--objective", default="", help="for `start`: the goal of the run")
    parser.add_argument("--reason", default="", help="for `cancel`: the reason, shown to the agent")
    parser.add_argument("--call", default="", help="for `replay`: the call to make again")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(args: argparse.Namespace) -> int:
    if args.what not in _READ_ONLY:
        require_person(os.environ, f"`snell runs {args.what}`")
    names = ("run", "session", "minutes", "steps", "calls", "objective", "reason", "call")
    answer = call_operation(f"runs.{args.what}", {name: getattr(args, name) for name in names})
    if args.json:
        print(msgspec.json.encode(answer).decode())
    elif "changed" in answer:
        print(f"run {answer['run']}: {'done' if answer['changed'] else 'nothing changed'}")
    else:
        runs = answer if isinstance(answer, list) else [answer]
        print("\n".join(map(_line, runs)) or "no runs yet; `snell runs start` starts one")
    return 0


def _line(run: dict[str, Any]) -> str:
    waits = f"  waiting for: {run['waiting_for']}" if run["waiting_for"] else ""
    driver = f"  leased by session {run['lease_owner']}" if run.get("lease_owner") else ""
    used = f"{run['steps']}/{run['max_steps']} steps, {run['calls']}/{run['max_calls']} calls"
    return f"{run['run_id']}  {run['status']:<18} {used}, at most {run['max_minutes']} minutes{waits}{driver}"
