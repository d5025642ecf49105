"""Start, log into, resume and finish efforts: each is one run of a skill, over one or more sessions."""

import argparse
import sys

from snell.cli.call_operation import call_operation
from snell.cli.table import print_one, print_rows
from snell.model.errors import SnellError

EXAMPLE = "snell effort start parser implement"
COLUMNS = {
    "id": "EFFORT",
    "ordinal": "NO",
    "skill": "SKILL",
    "mode": "MODE",
    "lifecycle": "STATE",
    "currentPhase": "PHASE",
    "taskId": "TASK",
}
MOST_INPUT = 1_000_000


def arguments(parser: argparse.ArgumentParser) -> None:
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    begun = verbs.add_parser("start", help="start an effort, or resume the active one of the same skill")
    begun.add_argument("task", help="the name of the task, or its directory")
    begun.add_argument("skill", help="the skill to run")
    begun.add_argument("--mode", help="the mode of the skill")
    begun.add_argument("--description", help="what the task is about")
    resumed = verbs.add_parser("resume", help="resume an effort in a new session")
    resumed.add_argument("id", type=int, nargs="?", help="the effort's id (default: the active one in this project)")
    log = verbs.add_parser("log", help="write into the effort's log, and reset its heartbeat")
    log.add_argument("text", nargs="*", help="what to write (default: standard input)")
    log.add_argument("--log", default="LOG", help="which log (default: LOG)")
    log.add_argument("--effort", type=int, help="the effort's id (default: the active one in this project)")
    finished = verbs.add_parser("finish", help="finish an effort; it cannot be resumed")
    finished.add_argument("id", type=int, nargs="?", help="the effort's id (default: the active one in this project)")
    finished.add_argument("--keywords", help="keywords for finding the task again")
    listed = verbs.add_parser("list", help="list efforts")
    listed.add_argument("--active", action="store_true", help="only unfinished efforts")
    shown = verbs.add_parser("show", help="show an effort")
    shown.add_argument("id", type=int, nargs="?", help="the effort's id (default: the active one in this project)")
    for each in (begun, resumed, log, finished, listed, shown):
        each.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    _VERBS[args.verb](args)
    return 0


def active_effort() -> int:
    """Return the id of the active effort of this project. Raises SnellError if there is none."""
    found = call_operation("commands.where")["effortId"]
    if found is None:
        raise SnellError("no active effort in this project", advice="`snell effort start TASK SKILL` starts one")
    return int(found)


def read_stdin(what: str) -> str:
    """Return standard input, up to a limit. Raises SnellError if it is a terminal or too long."""
    if sys.stdin.isatty():
        raise SnellError(f"{what} is read from standard input", advice="pipe it in")
    data = sys.stdin.buffer.read(MOST_INPUT + 1)
    if len(data) > MOST_INPUT:
        raise SnellError(f"{what} is longer than {MOST_INPUT:,} bytes", advice="shorten it")
    return data.decode("utf-8", "replace")


def _start(args: argparse.Namespace) -> None:
    given = {"taskName": args.task, "skill": args.skill, "mode": args.mode, "description": args.description}
    made = call_operation("commands.effort.start", given)
    _print_effort(made, args, "resumed" if made["resumed"] else "started")


def _resume(args: argparse.Namespace) -> None:
    _print_effort(call_operation("commands.effort.resume", {"effortId": args.id}), args, "resumed")


def _log(args: argparse.Namespace) -> None:
    text = " ".join(args.text) if args.text else read_stdin("the entry")
    place = call_operation("commands.log.append", {"content": text, "log": args.log, "effortId": args.effort})
    print_one(place, f"logged in {place['path']}", as_json=args.json)


def _finish(args: argparse.Namespace) -> None:
    id_ = active_effort() if args.id is None else args.id
    effort = call_operation("db.effort.finish", {"id": id_, "keywords": args.keywords})
    print_one(effort, f"effort {effort['id']} finished", as_json=args.json)


def _list(args: argparse.Namespace) -> None:
    rows = call_operation("db.effort.list", {"lifecycle": "active"} if args.active else {})
    columns = {**COLUMNS, "host": "HOST"} if any(row["host"] for row in rows) else COLUMNS
    print_rows(rows, columns, as_json=args.json, nothing="no efforts yet; `snell effort start` starts one")


def _show(args: argparse.Namespace) -> None:
    effort = call_operation("db.effort.get", {"id": active_effort() if args.id is None else args.id})
    if args.json:
        print_one(effort, "", as_json=True)
    else:
        print_rows([effort], COLUMNS, as_json=False, nothing="")


def _print_effort(made: dict[str, dict[str, object]], args: argparse.Namespace, verb: str) -> None:
    effort, session = made["effort"], made["session"]
    text = f"effort {effort['id']} ({effort['skill']}, no {effort['ordinal']}) {verb} in {effort['taskId']}"
    print_one(made, f"{text}, session {session['id']}", as_json=args.json)


_VERBS = {"start": _start, "resume": _resume, "log": _log, "finish": _finish, "list": _list, "show": _show}
