"""Read and write rows as dictionaries with camelCase names and decoded JSON columns."""

import time
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import msgspec

from snell.model.protocols import Transaction

Record = dict[str, Any]

# Columns with JSON, in any table.
JSON_COLUMNS = frozenset(
    (
        "phases",
        "modes",
        "templates",
        "cmd_dependencies",
        "next_skills",
        "directives",
        "discovered_directives",
        "discovered_directories",
        "loaded_files",
        "metadata",
        "preloaded_files",
        "pending_injections",
        "told",
        "dehydration_payload",
        "interaction",
        "proof",
        "signal",
        "claims",
        "targeted_claims",
        "manages",
    )
)


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def select(tx: Transaction, table: str, columns: str, rest: str = "", *values: Any) -> list[Record]:
    """Return rows of a table or view; `columns` are separated by spaces."""
    names = columns.split()
    found = tx.rows(f"SELECT {', '.join(names)} FROM {table} {rest}", *values)
    return [record_of(names, row) for row in found]


def record_of(names: Iterable[str], row: Iterable[Any]) -> Record:
    return {camel(name): read(name, value) for name, value in zip(names, row, strict=True)}


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
    names = ", ".join(f"{name} = ?" for name in changes)
    return tx.do(f"UPDATE {table} SET {names} WHERE {key} = ?", *(to_column(n, v) for n, v in changes.items()), id_)


def to_column(name: str, value: Any) -> Any:
    return json_of(value) if name in JSON_COLUMNS else value


def union(one: Any, other: Any) -> list[Any]:
    """Return the elements of both lists, in order, each once."""
    merged: list[Any] = []
    for each in (*(one if isinstance(one, list) else ()), *(other if isinstance(other, list) else ())):
        if each not in merged:
            merged.append(each)
    return merged


@cache
def camel(name: str) -> str:
    """Return `heartbeatCounter` for `heartbeat_counter`."""
    first, *others = name.split("_")
    return first + "".join(word[:1].upper() + word[1:] for word in others)


def camel_keys(given: Mapping[str, Any]) -> Record:
    """Return the mapping with camelCase keys on the top level only."""
    return {camel(name): value for name, value in given.items()}
