"""Explain a decision."""

import argparse
import os

import msgspec

from snell.engine.explain import explained
from snell.machine.paths import places
from snell.runtime.journal import FileJournal

EXAMPLE = "snell why last"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", nargs="?", default="last", help="a decision's id, the beginning of one, or `last`")
    parser.add_argument("--json", action="store_true", help="print the record as JSON")


def run(args: argparse.Namespace) -> int:
    record = FileJournal(places(os.environ).state).find(args.id)
    print(msgspec.json.encode(record).decode() if args.json else explained(record))
    return 0
