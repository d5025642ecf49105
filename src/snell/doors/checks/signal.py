"""Is there anything in a text that is worth remembering?"""

import argparse
import sys
from typing import Any

from snell.doors.checks import text_in
from snell.memory.signals import classify

EXAMPLE = "snell check signal 'we decided to keep the monolith'"
ROWS = "{id, text}"

_SAYS = {1: "worth keeping", 2: "may be worth keeping", 3: "nothing to keep"}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", nargs="?", help="the text; standard input if there is none")


def ask(row: dict[str, Any]) -> dict[str, Any]:
    signal = classify(text_in(row, "text"))
    return {"tier": signal.tier, "score": signal.score, "types": list(signal.types)}


def show(args: argparse.Namespace) -> int:
    signal = classify(args.text if args.text is not None else sys.stdin.read())
    print(f"{_SAYS[signal.tier]}: tier {signal.tier}, score {signal.score:.2f}")
    for each in signal.types:
        print(f"  {each}")
    return 0 if signal.tier < 3 else 1
