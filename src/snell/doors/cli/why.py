"""Explain a decision."""

import argparse
import os

import msgspec

from snell.doors.paint import Paint
from snell.engine.explain import explained
from snell.machine.paths import places
from snell.runtime.house import database_of
from snell.runtime.store_journal import StoreJournal

EXAMPLE = "snell why last"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", nargs="?", default="last", help="a decision's id, the beginning of one, or `last`")
    parser.add_argument("--json", action="store_true", help="print the record as JSON")


def run(args: argparse.Namespace) -> int:
    record = StoreJournal(database_of(places(os.environ))).find(args.id)
    mark = Paint.for_stdout().of(record)
    print(msgspec.json.encode(record).decode() if args.json else explained(record, mark))
    return 0
