"""Send an agent back to work until its last message contains the agreed words."""

import argparse
import os
import sys

import msgspec

from snell.cli.call_operation import call_operation
from snell.cli.confirmation import require_person

EXAMPLE = "snell loop start --promise TASK_COMPLETE --max 5"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", choices=["start", "status", "stop"], help="what to do with the loop of a session")
    parser.add_argument("--promise", help="the words in the agent's last message that end the loop")
    parser.add_argument("--max", type=int, default=10, help="the maximum number of rounds (default: 10)")
    parser.add_argument("--objective", default="", help="the goal that the agent is reminded of")
    parser.add_argument("--session", default="", help="the session's id (default: the one that was active last)")
    parser.add_argument("--json", action="store_true", help="print the answer as JSON")


def run(args: argparse.Namespace) -> int:
    if args.what != "status":
        require_person(os.environ, f"`snell loop {args.what}`")
    given = {"promise": args.promise, "max": args.max, "objective": args.objective, "session": args.session}
    answer = call_operation(f"loop.{args.what}", given)
    if args.json:
        print(msgspec.json.encode(answer).decode())
    elif args.what == "stop":
        print(f"loop of session {answer['session']} stopped" if answer["stopped"] else "no loop was running")
    elif "promise" in answer:
        rounds = f"round {answer['iteration']} of {answer['most']}"
        print(f"session {answer['session']}: until `{answer['promise']}`, {rounds}")
        if answer.get("problem"):
            print(
                f"the loop ends with the daemon, because it could not be stored: {answer['problem']}", file=sys.stderr
            )
    else:
        print(f"session {answer['session']} has no loop")
    return 0
