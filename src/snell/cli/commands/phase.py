"""Show or change the phase of an effort."""

import argparse
import select
import sys

from snell.cli.call_operation import call_operation
from snell.cli.verbs import read_json, read_stdin
from snell.cli.views import show
from snell.model.errors import SnellError


def run(args: argparse.Namespace) -> int:
    if args.phase is None:
        id_ = call_operation("effort.show")["id"] if args.effort is None else args.effort
        show("db.effort.phaseHistory", call_operation("db.effort.phaseHistory", {"effortId": id_}), as_json=args.json)
        return 0
    given = {"phase": args.phase, "reason": args.reason, "proof": _proof(args.proof), "effortId": args.effort}
    moved = call_operation("commands.effort.phase", given)
    show("commands.effort.phase", moved, as_json=args.json)
    return 0


def _proof(given: str | None) -> dict[str, object] | None:
    """Return the proof of the option or of standard input."""
    if given is None and (sys.stdin.isatty() or not select.select([sys.stdin], [], [], 0)[0]):
        return None  # an open pipe without data
    text = read_stdin("the proof") if given in (None, "-") else str(given)
    if not text.strip():
        return None
    proof = read_json(text, "the proof")
    if not isinstance(proof, dict):
        raise SnellError("the proof must be a JSON object")
    return proof
