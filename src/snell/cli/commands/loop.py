"""Send an agent back until its promise is kept."""

import argparse
import os
import sys

import msgspec

from snell.cli.call_operation import call_operation
from snell.cli.confirmation import require_person

EXAMPLE = "snell loop start --promise TASK_COMPLETE --max 5"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", choices=["start", "status", "stop"])
    parser.add_argument("--promise", help="the words in the agent's last message that end the loop")
    parser.add_argument("--max", type=int, default=10, help="how often it is sent back at most (default: 10)")
    parser.add_argument("--objective", default="", help="what the agent is reminded of")
    parser.add_argument("--session", default="", help="which session (default: the one that was active last)")
    parser.add_argument("--json", action="store_true", help="print the answer as JSON")


def run(args: argparse.Namespace) -> int:
    if args.what != "status":
        require_person(os.environ, f"`snell loop {args.what}`")
    given = {"promise": args.promise, "max": args.max, "objective": args.objective, "session": args.session}
    answer = call_operation(f"loop.{args.what}", given)
    if args.json:
        print(msgspec.json.encode(answer).decode())
    elif args.what == "stop":
        print(f"the loop of session {answer['session']} is over" if answer["stopped"] else "there was no loop")
    elif "promise" in answer:
        rounds = f"round {answer['iteration']} of {answer['most']}"
        print(f"session {answer['session']}: until `{answer['promise']}`, {rounds}")
        if answer.get("problem"):
            print(f"it will not survive the daemon: {answer['problem']}", file=sys.stderr)
    else:
        print(f"session {answer['session']} has no loop")
    return 0
