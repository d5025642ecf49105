"""Read and write the table `meta`: small values by name, in any store."""

from snell.model.protocols import Transaction

_WRITE = "INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value"


def get_meta(tx: Transaction, name: str) -> str:
    """Return the value with this name; empty where there is none."""
    found = tx.rows("SELECT value FROM meta WHERE name = ?", name)
    return str(found[0][0]) if found else ""


def put_meta(tx: Transaction, name: str, value: str) -> None:
    """Write a value, over the one that was there."""
    tx.do(_WRITE, name, value)
