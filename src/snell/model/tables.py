"""Read and write rows as structs whose fields are the columns of a table, in any store; and the table `meta`."""

from collections.abc import Collection, Mapping
from operator import attrgetter
from typing import Any, Generic, TypeVar

from msgspec import Struct

from snell.model.protocols import Transaction

Row = TypeVar("Row", bound=Struct)
_WRITE_META = "INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
DAMAGED = "meta_damaged"  # the value of `meta` that says that it was damaged, and repaired


class Table(Generic[Row]):
    """
    A table and the struct of its rows.

    `assigned` is the column whose value the store gives to a new row. `renamed`: fields whose column has another name.
    """

    def __init__(self, name: str, row: type[Row], *, assigned: str = "", renamed: Mapping[str, str] | None = None):
        names = {field: (renamed or {}).get(field, field) for field in row.__struct_fields__}
        self.name, self._assigned = name, assigned
        self.fields = tuple(field for field in names if field != assigned)
        self.values = attrgetter(*self.fields)  # the values of a row, as `insert` takes them
        self._row, self._names = row, tuple(names)
        self.columns = ", ".join(names[field] for field in self.fields)
        self._select = f"SELECT {', '.join(f'{name}.{column}' for column in names.values())} FROM {name}"

    def read(self, tx: Transaction, rest: str = "", *values: Any) -> list[Row]:
        """Return the rows that a `WHERE ... ORDER BY ...` selects."""
        found = tx.rows(f"{self._select} {rest}", *values)
        return [self._row(**dict(zip(self._names, each, strict=True))) for each in found]

    def first(self, tx: Transaction, rest: str = "", *values: Any) -> Row | None:
        """Return the first of these rows; None if there is none."""
        return next(iter(self.read(tx, rest, *values)), None)

    def after(self, tx: Transaction, number: int, limit: int) -> list[Row]:
        """Return the next rows after this number, in the order in which they were added or last changed."""
        column = self._assigned or "seq"
        return self.read(tx, f"WHERE {column} > ? ORDER BY {column} LIMIT ?", number, limit)

    def insert(self, end: str = "", *, number: str = "", rows: int = 1) -> str:
        """Return the statement that inserts rows; `number` is the value of the assigned column, in SQL."""
        columns = f"{self.columns}, {self._assigned}" if number else self.columns
        one = ", ".join(filter(None, (blanks(self.fields), number)))
        return f"INSERT INTO {self.name} ({columns}) VALUES {', '.join([f'({one})'] * rows)} {end}"


def blanks(values: Collection[Any]) -> str:
    """Return a placeholder for each value, separated by commas."""
    return ", ".join("?" for _ in values)


def where_given(asked: Mapping[str, Any]) -> tuple[str, list[Any]]:
    """Return the WHERE clause for columns with these values, and the values; an empty text or None asks nothing."""
    given = {name: value for name, value in asked.items() if value not in (None, "")}
    clause = " AND ".join(f"{name} = ?" for name in given)
    return (f"WHERE {clause}" if clause else ""), list(given.values())


def assignments(names: Mapping[str, Any]) -> str:
    """Return `NAME = ?` for each name, separated by commas."""
    return ", ".join(f"{name} = ?" for name in names)


def get_meta(tx: Transaction, name: str) -> str:
    """Return the small value with this name in the table `meta`; empty where there is none."""
    found = tx.rows("SELECT value FROM meta WHERE name = ?", name)
    return str(found[0][0]) if found else ""


def get_meta_number(tx: Transaction, name: str) -> int:
    """Return a number of the table `meta`; 0 where there is none, or where another program changed it."""
    text = get_meta(tx, name)
    return int(text) if text.isdecimal() else 0


def put_meta(tx: Transaction, name: str, value: str) -> None:
    """Write a value, over the one that was there."""
    tx.do(_WRITE_META, name, value)
