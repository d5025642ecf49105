"""Read and write marks: small named values in a scope such as `session:ID`, stored as JSON in every backend."""

from typing import Any

import msgspec

from snell.model.protocols import Transaction
from snell.system.wall_clock import now_ms


def get(tx: Transaction, scope: str, name: str) -> Any:
    found = tx.rows("SELECT value FROM marks WHERE scope = ? AND name = ?", scope, name)
    return msgspec.json.decode(found[0][0]) if found else None


def put(tx: Transaction, scope: str, name: str, value: Any, at: int = 0) -> None:
    change = "ON CONFLICT (scope, name) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at"
    text = msgspec.json.encode(value).decode()
    now = at or now_ms()
    tx.do(f"INSERT INTO marks (scope, name, value, updated_at) VALUES (?, ?, ?, ?) {change}", scope, name, text, now)


def drop(tx: Transaction, scope: str, name: str | None = None) -> int:
    """Delete one mark, or all of a scope; returns how many there were."""
    if name is None:
        return tx.do("DELETE FROM marks WHERE scope = ?", scope)
    return tx.do("DELETE FROM marks WHERE scope = ? AND name = ?", scope, name)


def in_scope(tx: Transaction, scope: str) -> dict[str, Any]:
    found = tx.rows("SELECT name, value FROM marks WHERE scope = ?", scope)
    return {name: msgspec.json.decode(value) for name, value in found}
