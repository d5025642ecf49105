"""Which route does a prompt take?"""

import argparse
from typing import Any

from snell.doors.checks import text_in
from snell.model.errors import SnellError
from snell.packs.nudges.prompts import parts_for
from snell.packs.nudges.routes import COMMITS, route_of
from snell.runtime.builtin_packs import builtin_packs

EXAMPLE = "snell check nudge 'improve the error handling'"
ROWS = "{id, prompt}"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("prompt", nargs="?", help="what a person would type")


def ask(row: dict[str, Any]) -> dict[str, Any]:
    prompt = text_in(row, "prompt", "")
    return {"route": None if COMMITS.search(prompt) else _route(prompt) or None}


def show(args: argparse.Namespace) -> int:
    if args.prompt is None:
        raise SnellError("give a prompt", advice=f"for example: {EXAMPLE}")
    parts = parts_for(args.prompt, builtin_packs()["nudges"].options)
    print("\n\n".join(parts) or "no route: nothing is added")
    return 0


def _route(prompt: str) -> str:
    options = builtin_packs()["nudges"].options
    return route_of(prompt, options["routes"], options["matching"], options["look_alikes"].split())
