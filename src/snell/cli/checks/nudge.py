"""Show what the nudges pack would add to a prompt."""

import argparse
from typing import Any

from snell.cli.checks import options_of_pack, text_in
from snell.model.errors import SnellError
from snell.packs.nudges.prompts import keyword_for, parts_for

EXAMPLE = "snell check nudge 'improve the error handling'"
ROWS = "{id, prompt}"
ANSWER = "{route}; null if no route matches the prompt"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("prompt", nargs="?", help="the user's prompt")


def check_row(row: dict[str, Any]) -> dict[str, Any]:
    """Find the route for the prompt of one row."""
    return {"route": keyword_for(text_in(row, "prompt", ""), options_of_pack("nudges")) or None}


def check_arguments(args: argparse.Namespace) -> dict[str, Any]:
    """Find the route for the prompt on the command line."""
    return check_row({"prompt": _prompt_in(args)})


def print_result(args: argparse.Namespace) -> int:
    """Print what would be added to the prompt."""
    print("\n\n".join(parts_for(_prompt_in(args), options_of_pack("nudges"))) or "no route matches: nothing is added")
    return 0


def _prompt_in(args: argparse.Namespace) -> str:
    if args.prompt is None:
        raise SnellError("no prompt was given", advice=f"for example: {EXAMPLE}")
    return str(args.prompt)
