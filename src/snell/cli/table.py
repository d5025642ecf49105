"""Print rows as a table for people, or as JSON for programs."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from snell.cli.colours import visible, visible_lines

LONGEST = 60


def print_rows(rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str], *, as_json: bool, nothing: str) -> None:
    """Print rows; `columns` maps the fields of the table to their headings, JSON has all fields."""
    if as_json:
        print(msgspec.json.encode(rows).decode())
    elif not rows:
        print(nothing)
    else:
        print("\n".join(lines_of(rows, columns)))


def print_one(row: Mapping[str, Any], text: str, *, as_json: bool) -> None:
    print(msgspec.json.encode(row).decode() if as_json else visible_lines(text))


def lines_of(rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str]) -> list[str]:
    cells = [list(columns.values()), *([_cell(row.get(field)) for field in columns] for row in rows)]
    widths = [max(len(row[index]) for row in cells) for index in range(len(columns))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]


def _cell(value: Any) -> str:
    if value is None or value == "":
        return "-"
    text = f"{value:.0%}" if isinstance(value, float) else visible(" ".join(str(value).split()))
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def plural(number: int, one: str, many: str = "") -> str:
    """Return the number with its noun, such as `1 day` or `3 days`."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"
