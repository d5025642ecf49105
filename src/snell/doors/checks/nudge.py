"""Which route does a prompt take?"""

import argparse
from typing import Any

from snell.doors.checks import text_in
from snell.doors.checks.options_here import options_here
from snell.model.errors import SnellError
from snell.packs.nudges.prompts import keyword_for, parts_for

EXAMPLE = "snell check nudge 'improve the error handling'"
ROWS = "{id, prompt}"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("prompt", nargs="?", help="what a person would type")


def ask(row: dict[str, Any]) -> dict[str, Any]:
    return {"route": keyword_for(text_in(row, "prompt", ""), options_here("nudges")) or None}


def show(args: argparse.Namespace) -> int:
    if args.prompt is None:
        raise SnellError("give a prompt", advice=f"for example: {EXAMPLE}")
    print("\n\n".join(parts_for(args.prompt, options_here("nudges"))) or "no route: nothing is added")
    return 0
