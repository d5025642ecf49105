"""Explain a decision."""

import argparse
import os

import msgspec

from snell.cli.colours import Colours
from snell.engine.explain import explain
from snell.runtime.app import database_of
from snell.runtime.database_journal import StoreJournal
from snell.system.paths import places

EXAMPLE = "snell why last"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "id", nargs="?", default="last", help="a decision's id or its first characters, or `last` (the default)"
    )
    parser.add_argument("--json", action="store_true", help="print the record as JSON")


def run(args: argparse.Namespace) -> int:
    record = StoreJournal(database_of(places(os.environ))).find(args.id)
    mark = Colours.for_stdout().of(record)
    print(msgspec.json.encode(record).decode() if args.json else explain(record, mark))
    return 0
