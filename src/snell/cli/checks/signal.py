"""Test whether a text is worth remembering."""

import argparse
import sys
from typing import Any

from snell.cli.checks import text_in
from snell.memory.signals import classify

EXAMPLE = "snell check signal 'we decided to keep the monolith'"
ROWS = "{id, text}"
ANSWER = "{tier, score, types}"

_LABELS = {1: "worth remembering", 2: "may be worth remembering", 3: "not worth remembering"}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", nargs="?", help="the text (default: standard input)")


def check_row(row: dict[str, Any]) -> dict[str, Any]:
    """Classify the text of one row."""
    signal = classify(text_in(row, "text"))
    return {"tier": signal.tier, "score": signal.score, "types": list(signal.types)}


def check_arguments(args: argparse.Namespace) -> dict[str, Any]:
    """Classify the text on the command line or standard input."""
    return check_row({"text": _text_in(args)})


def exit_code(answer: dict[str, Any]) -> int:
    return 0 if answer["tier"] < 3 else 1


def print_result(args: argparse.Namespace) -> int:
    """Print whether the text is worth remembering, its tier, its score and its types."""
    signal = classify(_text_in(args))
    print(f"{_LABELS[signal.tier]}: tier {signal.tier}, score {signal.score:.2f}")
    for each in signal.types:
        print(f"  {each}")
    return 0 if signal.tier < 3 else 1


def _text_in(args: argparse.Namespace) -> str:
    return args.text if args.text is not None else sys.stdin.read()
