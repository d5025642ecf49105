"""Runs: work with a budget, which can be cancelled and can wait for a person."""

import argparse
import os
from typing import Any

import msgspec

from snell.cli.call_operation import call_operation
from snell.cli.confirmation import require_person

EXAMPLE = "snell runs start --minutes 30 --calls 100"
_LOOKS = ("list", "show")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", choices=["start", "list", "show", "cancel", "approve", "finish", "replay"])
    parser.add_argument("run", nargs="?", default="", help="which run (default: the last)")
    parser.add_argument("--session", default="", help="of `start`: which session works for it (default: the last)")
    parser.add_argument("--minutes", type=int, help="of `start`: its budget of time (default: 90)")
    parser.add_argument("--steps", type=int, help="of `start`: its budget of prompts (default: 50)")
    parser.add_argument("--calls", type=int, help="of `start`: its budget of tool calls (default: 250)")
    parser.add_argument("--objective", default="", help="of `start`: what it is for")
    parser.add_argument("--reason", default="", help="of `cancel`: why, for the agent")
    parser.add_argument("--call", default="", help="of `replay`: the call that has to be made again")
    parser.add_argument("--json", action="store_true", help="print the answer as JSON")


def run(args: argparse.Namespace) -> int:
    if args.what not in _LOOKS:
        require_person(os.environ, f"`snell runs {args.what}`")
    names = ("run", "session", "minutes", "steps", "calls", "objective", "reason", "call")
    answer = call_operation(f"runs.{args.what}", {name: getattr(args, name) for name in names})
    if args.json:
        print(msgspec.json.encode(answer).decode())
    elif "changed" in answer:
        print(f"run {answer['run']}: {'done' if answer['changed'] else 'nothing changed'}")
    else:
        for each in answer if isinstance(answer, list) else [answer]:
            print(_line(each))
    return 0


def _line(run: dict[str, Any]) -> str:
    waits = f"  waits for: {run['waiting_for']}" if run["waiting_for"] else ""
    driver = f"  worked on by session {run['lease_owner']}" if run.get("lease_owner") else ""
    used = f"{run['steps']}/{run['max_steps']} steps, {run['calls']}/{run['max_calls']} calls"
    return f"{run['run_id']}  {run['status']:<18} {used}, at most {run['max_minutes']} minutes{waits}{driver}"
