"""
Find rows that Snell never writes: without an id, with a number below 1, or with a value of another type.

SQLite checks types only in part: it accepts a text in a number column and NULL in many primary keys. A user who edits
the file could hide such rows from the comparison with the audit chain.
"""

from typing import Any

from msgspec import Struct

from snell.model.protocols import Transaction
from snell.records.audit_chain import Entry
from snell.records.decisions import Row, Trace
from snell.records.ledger import Call

_SQLITE_TYPES = {int: "integer", str: "text", float: "real"}


class Table(Struct, frozen=True):
    name: str
    id: str
    number: str  # the column that orders its rows; empty if there is none
    types: dict[str, Any]


TABLES = (
    Table("decisions", "id", "seq", Row.__annotations__),
    Table("traces", "decision_id", "seq", Trace.__annotations__),
    Table("tool_calls", "tool_call_id", "revision", Call.__annotations__),
    Table("tool_receipts", "tool_call_id", "", {"run_id": str, "created_at": int, "status": str, "body": str}),
    Table("tool_claims", "tool_call_id", "", {"run_id": str, "idempotency_key": str, "at": int, "status": str}),
    Table("tool_bodies", "ref", "", {"created_at": int, "size": int, "body": str}),
    Table("audit_chain", "record_id", "seq", Entry.__annotations__),
)
_NEVER_EMPTY = ("kind", "digest", "link")


class MalformedRow(Struct, frozen=True):
    """A row that Snell never writes."""

    table: str
    id: Any
    number: Any
    column: str

    def __str__(self) -> str:
        shown = "".join(char if char.isprintable() else "\ufffd" for char in f"{self.id!s:.80}")
        which = f"`{shown}`" if self.id not in (None, "") else "without an id"
        at = f", number {self.number!s:.40}" if self.number is not None else ""
        return f"row {which} of `{self.table}`{at} was inserted: Snell never writes such a value in `{self.column}`"


def find_malformed_rows(tx: Transaction) -> list[MalformedRow]:
    """Return all malformed rows; none if the database itself checks types."""
    if tx.dialect != "sqlite":
        return []
    return [MalformedRow(table.name, *row) for table in TABLES for row in tx.rows(_query(table))]


def _query(table: Table) -> str:
    wrong = [(name, f"typeof({name}) <> '{_SQLITE_TYPES[type_]}'") for name, type_ in table.types.items()]
    wrong += [(table.id, f"typeof({table.id}) <> 'text' OR {table.id} = ''")]
    wrong += [(name, f"{name} = ''") for name in _NEVER_EMPTY if name in table.types and table.number]
    wrong += [(table.number, f"{table.number} < 1")] if table.number else []
    which = " ".join(f"WHEN {condition} THEN '{name}'" for name, condition in wrong)
    columns = f"{table.id} AS id, {table.number or 'NULL'} AS number, CASE {which} END AS wrong"
    return f"SELECT id, number, wrong FROM (SELECT {columns} FROM {table.name}) WHERE wrong IS NOT NULL"
