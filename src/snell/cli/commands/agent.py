"""List and register agents, and set their status."""

import argparse
import os

from snell.cli.call_operation import call_operation
from snell.cli.table import print_one, print_rows
from snell.model.errors import SnellError
from snell.work.agents import STATUSES

EXAMPLE = "snell agent list"
COLUMNS = {
    "id": "AGENT",
    "status": "STATUS",
    "effortId": "EFFORT",
    "parent": "PARENT",
    "manages": "MANAGES",
    "holder": "HOST",
}


def arguments(parser: argparse.ArgumentParser) -> None:
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    listed = verbs.add_parser("list", help="list all agents")
    registered = verbs.add_parser("register", help="register an agent")
    registered.add_argument("id", nargs="?", help="its name (default: AGENT_ID)")
    for name in ("label", "parent", "manages"):
        registered.add_argument(f"--{name}", help=f"its {name}")
    status = verbs.add_parser("status", help="set an agent's status")
    status.add_argument("status", choices=STATUSES)
    status.add_argument("id", nargs="?", help="the agent's name (default: AGENT_ID)")
    for each in (listed, registered, status):
        each.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    if args.verb == "list":
        print_rows(call_operation("db.agents.list"), COLUMNS, as_json=args.json, nothing="no agents yet")
        return 0
    id_ = args.id or os.environ.get("AGENT_ID")
    if not id_:
        raise SnellError("no agent was named", advice="give its name, or set AGENT_ID")
    if args.verb == "status":
        agent = call_operation("db.agents.updateStatus", {"id": id_, "status": args.status})
    else:
        given = {"label": args.label, "parent": args.parent, "manages": args.manages}
        agent = call_operation("db.agents.register", {"id": id_, **given})
    print_one(agent, f"agent {agent['id']} is {agent['status']}", as_json=args.json)
    return 0
