"""Manage tasks: directories that group efforts."""

import argparse
import os

from snell.cli.call_operation import call_operation
from snell.cli.table import print_one, print_rows

EXAMPLE = "snell task list"
COLUMNS = {"dirPath": "TASK", "title": "TITLE", "state": "STATE", "effortCount": "EFFORTS", "keywords": "KEYWORDS"}


def arguments(parser: argparse.ArgumentParser) -> None:
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    listed = verbs.add_parser("list", help="list the tasks of this project")
    listed.add_argument("--all", action="store_true", help="list the tasks of all projects")
    shown = verbs.add_parser("show", help="show the efforts of a task")
    shown.add_argument("path", help="the directory of the task")
    added = verbs.add_parser("add", help="add a directory as a task")
    added.add_argument("path", help="the directory of the task")
    for name in ("title", "description", "keywords", "workspace"):
        added.add_argument(f"--{name}", help=f"its {name}")
    for each in (listed, shown, added):
        each.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    if args.verb == "list":
        project = None if args.all else _project()
        rows = call_operation("db.task.list", {"projectId": project} if project is not None else {})
        print_rows(rows, COLUMNS, as_json=args.json, nothing="no tasks yet; `snell effort start` creates one")
    elif args.verb == "show":
        efforts = call_operation("db.effort.list", {"taskId": os.path.abspath(args.path)})
        columns = {"id": "EFFORT", "ordinal": "NO", "skill": "SKILL", "lifecycle": "STATE", "currentPhase": "PHASE"}
        print_rows(efforts, columns, as_json=args.json, nothing="this task has no efforts yet")
    else:
        _add(args)
    return 0


def _add(args: argparse.Namespace) -> None:
    project = call_operation("db.project.upsert", {"path": os.getcwd()})
    given = {name: getattr(args, name) for name in ("title", "description", "keywords", "workspace")}
    task = call_operation(
        "db.task.upsert", {"dirPath": os.path.abspath(args.path), "projectId": project["id"], **given}
    )
    print_one(task, f"task {task['dirPath']} added", as_json=args.json)


def _project() -> int | None:
    found = call_operation("commands.where")["projectId"]
    return found if isinstance(found, int) else None
