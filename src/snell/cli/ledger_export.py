"""Export tool calls as JSON lines, CSV or Parquet."""

import csv
import io
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from snell.model.errors import SnellError
from snell.model.protocols import Database
from snell.records import ledger
from snell.records.ledger import Call
from snell.system.optional_packages import install_advice, missing_message

PAGE = 1_000
COLUMNS = Call.__struct_fields__
_NUMBERS = frozenset(name for name, kind in Call.__annotations__.items() if kind is int)

Pages = Iterator[list[Call]]


def pages(database: Database, asked: Mapping[str, str]) -> Pages:
    """Yield the matching calls in pages, oldest first, so that no reading transaction is long."""
    at = (-1, "")
    while found := database.run(lambda tx, at=at: ledger.page(tx, asked, at, PAGE)):  # type: ignore[misc] # its default
        yield found
        at = (found[-1].created_at, found[-1].tool_call_id)


def write_json(found: Pages, out: BinaryIO) -> None:
    for calls in found:
        out.writelines(msgspec.json.encode(call) + b"\n" for call in calls)


def write_csv(found: Pages, out: BinaryIO) -> None:
    """Write CSV; a text that a spreadsheet would read as a formula gets an apostrophe in front."""
    text = io.TextIOWrapper(out, encoding="utf-8", newline="", write_through=True)
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    for calls in found:
        writer.writerows([_cell(getattr(call, name)) for name in COLUMNS] for call in calls)
    text.detach()


def write_parquet(found: Pages, out: BinaryIO) -> None:
    try:
        pyarrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        advice = f"{install_advice('parquet')}, or export as json or csv"
        raise SnellError(f"Parquet cannot be written: {missing_message('parquet')}", advice=advice) from None
    schema = pyarrow.schema([(name, pyarrow.int64() if name in _NUMBERS else pyarrow.string()) for name in COLUMNS])
    with parquet.ParquetWriter(out, schema) as writer:
        for calls in found:
            columns = {name: [getattr(call, name) for call in calls] for name in COLUMNS}
            writer.write_table(pyarrow.table(columns, schema=schema))


FORMATS: Mapping[str, Callable[[Pages, BinaryIO], None]] = {
    "json": write_json,
    "csv": write_csv,
    "parquet": write_parquet,
}


def export(database: Database, asked: Mapping[str, str], form: str, path: str) -> int:
    """Write the matching calls to a file that only its owner can read, or to stdout; return their number."""
    count = 0

    def count_pages() -> Pages:
        nonlocal count
        for calls in pages(database, asked):
            count += len(calls)
            yield calls

    if path == "-":
        FORMATS[form](count_pages(), sys.stdout.buffer)
        return count
    partial = Path(f"{path}.part")
    try:
        with open(partial, "wb", opener=lambda name, flags: os.open(name, flags | os.O_NOFOLLOW, 0o600)) as out:
            FORMATS[form](count_pages(), out)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    return count


def _cell(value: Any) -> Any:
    if not isinstance(value, str) or not value:
        return value
    # Some programs ignore leading blanks, and some read the full-width forms of these signs as the signs.
    return f"'{value}" if value[0] in "\t\r\n" or value.lstrip()[:1] in tuple("=+-@＝＋－＠") else value
