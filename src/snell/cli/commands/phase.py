"""Show or change the phase of an effort."""

import argparse
import json
import select
import sys

from snell.cli.call_operation import call_operation
from snell.cli.commands.effort import active_effort, read_stdin
from snell.cli.table import print_one, print_rows
from snell.model.errors import SnellError

EXAMPLE = "snell phase 2 --reason 'the plan was there already'"
COLUMNS = {"phaseLabel": "PHASE", "proof": "PROOF"}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("phase", nargs="?", help="the new phase: `2`, `2.1` or `2: Build` (default: show the history)")
    parser.add_argument("--reason", help="why the new phase is not the next one")
    parser.add_argument("--proof", help="proof that the current phase is done, as JSON; `-` reads standard input")
    parser.add_argument("--effort", type=int, help="the effort's id (default: the active one in this project)")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    if args.phase is None:
        id_ = active_effort() if args.effort is None else args.effort
        rows = call_operation("db.effort.phaseHistory", {"effortId": id_})
        print_rows(rows, COLUMNS, as_json=args.json, nothing="the effort has no phase yet")
        return 0
    given = {"phase": args.phase, "reason": args.reason, "proof": _proof(args.proof), "effortId": args.effort}
    moved = call_operation("commands.effort.phase", given)
    text = f"now in phase {moved['phase']}" if moved["changed"] else f"already in phase {moved['phase']}"
    print_one(moved, text, as_json=args.json)
    return 0


def _proof(given: str | None) -> dict[str, object] | None:
    """Return the proof of the option or of standard input."""
    if given is None and (sys.stdin.isatty() or not select.select([sys.stdin], [], [], 0)[0]):
        return None  # an open pipe without data
    text = read_stdin("the proof") if given in (None, "-") else str(given)
    if not text.strip():
        return None
    try:
        proof = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SnellError(f"the proof is not JSON: {error}") from None
    if not isinstance(proof, dict):
        raise SnellError("the proof must be a JSON object")
    return proof
