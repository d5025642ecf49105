"""Manage sessions: each is one context window, and can store what the next one needs."""

import argparse
import json

from snell.cli.call_operation import call_operation
from snell.cli.commands.effort import read_stdin
from snell.cli.table import print_one, print_rows
from snell.model.errors import SnellError

EXAMPLE = "snell session dehydrate < where-i-am.json"
COLUMNS = {
    "id": "SESSION",
    "effortId": "EFFORT",
    "prevSessionId": "BEFORE",
    "clientSessionId": "WINDOW",
    "heartbeatCounter": "CALLS",
    "contextUsage": "CONTEXT",
    "endReason": "ENDED",
}


def arguments(parser: argparse.ArgumentParser) -> None:
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    listed = verbs.add_parser("list", help="list sessions")
    listed.add_argument("--open", action="store_true", help="only open sessions")
    listed.add_argument("--effort", type=int, help="filter by effort")
    shown = verbs.add_parser("show", help="show a session")
    shown.add_argument("id", type=int, help="the session's id")
    finished = verbs.add_parser("finish", help="end a session")
    finished.add_argument("id", type=int, help="the session's id")
    dehydrated = verbs.add_parser(
        "dehydrate", help="store what the next session needs (JSON on standard input), and end"
    )
    dehydrated.add_argument("--session", type=int, help="the session's id (default: the open one of the active effort)")
    for each in (listed, shown, finished, dehydrated):
        each.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    if args.verb == "list":
        rows = call_operation("db.session.list", {"effortId": args.effort, "openOnly": args.open})
        print_rows(rows, COLUMNS, as_json=args.json, nothing="no sessions yet")
    elif args.verb == "dehydrate":
        _dehydrate(args)
    else:
        session = call_operation(f"db.session.{'get' if args.verb == 'show' else 'finish'}", {"id": args.id})
        print_rows([session], COLUMNS, as_json=args.json, nothing="")
    return 0


def _dehydrate(args: argparse.Namespace) -> None:
    text = read_stdin("the payload")
    try:
        payload = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SnellError(
            f"the payload is not JSON: {error}", advice="nothing was stored; correct it and try again"
        ) from None
    done = call_operation("commands.session.dehydrate", {"payload": payload, "sessionId": args.session})
    warnings = "".join(f"\nwarning: {each}" for each in done["warnings"])
    print_one(done, f"session {done['sessionId']} ended; the next one gets this payload{warnings}", as_json=args.json)
