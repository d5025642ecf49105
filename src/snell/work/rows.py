"""Read and write rows as dictionaries with camelCase names and decoded JSON columns."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import msgspec
from msgspec import Struct

from snell.model.protocols import Transaction
from snell.model.tables import assignments, blanks
from snell.system import wall_clock
from snell.work.errors import not_found

Record = dict[str, Any]
now_ms = wall_clock.now_ms

_JSON = """
    phases modes templates cmd_dependencies next_skills directives discovered_directives discovered_directories
    loaded_files metadata preloaded_files pending_injections told dehydration_payload interaction proof signal claims
    targeted_claims manages
"""
JSON_COLUMNS = frozenset(_JSON.split())  # in any table


class WorkTable(Struct, frozen=True):
    """A table or view: the columns that are read, separated by spaces, and what one row is called in messages."""

    name: str
    columns: str
    noun: str = ""

    def read(self, tx: Transaction, rest: str = "", *values: Any) -> list[Record]:
        """Return the rows that a `WHERE ... ORDER BY ...` selects."""
        names = self.columns.split()
        found = tx.rows(f"SELECT {', '.join(names)} FROM {self.name} {rest}", *values)
        return [{camel(name): read(name, value) for name, value in zip(names, row, strict=True)} for row in found]

    def first(self, tx: Transaction, rest: str = "", *values: Any) -> Record | None:
        return next(iter(self.read(tx, rest, *values)), None)

    def matching(self, tx: Transaction, order: str, **asked: Any) -> list[Record]:
        """Return the rows whose columns have these values, in this order; None asks nothing."""
        given = {name: value for name, value in asked.items() if value is not None}
        clause = " AND ".join(f"{name} = ?" for name in given)
        return self.read(tx, f"{f'WHERE {clause}' if given else ''} ORDER BY {order}", *given.values())

    def get(self, tx: Transaction, id: int) -> Record:  # noqa: A002 - the name in the protocol
        """Return the row with this id. Raises NOT_FOUND."""
        return self.require(self.first(tx, "WHERE id = ?", id), id)

    def require(self, found: Record | None, which: object) -> Record:
        if found is None:
            raise not_found(self.noun, which)
        return found

    def insert(self, tx: Transaction, **columns: Any) -> Record:
        sql = f"INSERT INTO {self.name} ({', '.join(columns)}) VALUES ({blanks(columns)}) RETURNING id"
        ((id_,),) = tx.rows(sql, *(to_column(name, value) for name, value in columns.items()))
        return self.get(tx, id_)

    def change(self, tx: Transaction, id_: Any, **columns: Any) -> Record:
        """Set columns of a row and return it. Raises NOT_FOUND."""
        update(tx, self.name, "id", id_, columns)
        return self.get(tx, id_)


def read(name: str, value: Any) -> Any:
    """Return the decoded value of a column."""
    if name in JSON_COLUMNS and isinstance(value, str):
        try:
            return msgspec.json.decode(value)
        except (msgspec.DecodeError, RecursionError):
            return value  # plain text that was not written by Snell
    return value


def json_of(value: Any) -> str | None:
    return None if value is None else msgspec.json.encode(value).decode()


def update(tx: Transaction, table: str, key: str, id_: Any, changes: Mapping[str, Any]) -> int:
    """Set columns of one row; values of JSON columns are encoded."""
    values = (to_column(name, value) for name, value in changes.items())
    return tx.do(f"UPDATE {table} SET {assignments(changes)} WHERE {key} = ?", *values, id_)


def upsert(tx: Transaction, table: str, key: Record, given: Record, once: Record, *, keeps: bool = True) -> None:
    """
    Insert a row, or change the one with this key to the given values.

    `once` is written to a new row only. With `keeps` a value that is None leaves the column as it is.
    """
    new = {name: to_column(name, value) for name, value in {**key, **once, **given}.items()}
    value = f"COALESCE(excluded.{{0}}, {table}.{{0}})" if keeps else "excluded.{0}"
    change = ", ".join(f"{name} = {value.format(name)}" for name in given)
    tx.do(
        f"INSERT INTO {table} ({', '.join(new)}) VALUES ({blanks(new)})"
        f" ON CONFLICT ({', '.join(key)}) DO UPDATE SET {change}",
        *new.values(),
    )


def to_column(name: str, value: Any) -> Any:
    return json_of(value) if name in JSON_COLUMNS else value


def union(one: Any, other: Any) -> list[Any]:
    """Return the elements of both lists, in order, each once."""
    both = [each for given in (one, other) if isinstance(given, list) for each in given]
    return [each for at, each in enumerate(both) if each not in both[:at]]


@cache
def camel(name: str) -> str:
    """Return `heartbeatCounter` for `heartbeat_counter`."""
    first, *others = name.split("_")
    return first + "".join(word[:1].upper() + word[1:] for word in others)


def camel_keys(given: Mapping[str, Any]) -> Record:
    """Return the mapping with camelCase keys on the top level only."""
    return {camel(name): value for name, value in given.items()}
