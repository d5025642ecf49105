"""Which route does a prompt take?"""

import argparse
from typing import Any

from snell.cli.checks import text_in
from snell.cli.checks.pack_options import options_here
from snell.model.errors import SnellError
from snell.packs.nudges.prompts import keyword_for, parts_for

EXAMPLE = "snell check nudge 'improve the error handling'"
ROWS = "{id, prompt}"
ANSWER = "{route}; null where the prompt takes none"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("prompt", nargs="?", help="what a person would type")


def ask(row: dict[str, Any]) -> dict[str, Any]:
    return {"route": keyword_for(text_in(row, "prompt", ""), options_here("nudges")) or None}


def answer(args: argparse.Namespace) -> dict[str, Any]:
    return ask({"prompt": _prompt_in(args)})


def show(args: argparse.Namespace) -> int:
    print("\n\n".join(parts_for(_prompt_in(args), options_here("nudges"))) or "no route: nothing is added")
    return 0


def _prompt_in(args: argparse.Namespace) -> str:
    if args.prompt is None:
        raise SnellError("give a prompt", advice=f"for example: {EXAMPLE}")
    return str(args.prompt)
