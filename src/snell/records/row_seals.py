"""
Seal rows: a MAC over all values of a row, written together with it by triggers that exist only in Snell's connections.

A row that another program inserts or changes has no valid seal. A seal also names the end of the audit chain when the
connection was opened, so that a chain that was removed or replaced is missed. Rows of decisions and tool calls are in
the chain, which shows what was deleted; for the other tables `row_tallies` has the number of rows and the sum of their
seals. Bodies have no seal: their key is the hash of their text.
"""

import hashlib
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

import msgspec

from snell.model.errors import StoreError
from snell.model.protocols import Transaction
from snell.model.tables import blanks
from snell.records.audit_key import KEY_FILE, read_key
from snell.system.files import stat_or_none

# The sealed tables, with the columns that are not covered: how often a memory was used is no record.
TABLES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("decisions", "traces", "tool_calls", "tool_claims", "tool_receipts"), ()),
    **dict.fromkeys(("meta", "memory_keys", "runs", "run_steps", "checkpoints", "run_replays"), ()),
    "memories": ("accessed_at", "accesses"),
}
TALLIED = ("meta", "memories", "memory_keys", "runs", "run_steps", "checkpoints", "run_replays")
WITHOUT_ROWID = ("tool_claims",)
DIGEST = 16  # bytes of a MAC
_END = 10  # bytes of the end of the chain: its length, and the beginning of its last link
_TALLY = 24  # bytes of a tally before its MAC: the number of rows, and the sum of their seals
_MOST_STATEMENTS = 2_000

_encode = msgspec.json.Encoder().encode
_trigger = re.compile(r"CREATE TRIGGER (.*? ON (\w+) .*)", re.DOTALL).match
_writes = re.compile(r"\s*(?:INSERT(?: OR \w+)? INTO|UPDATE|DELETE FROM)\s+(\w+)", re.IGNORECASE).match


class Connection(Protocol):
    """The part of an SQLite connection that is used here."""

    def execute(self, sql: str, values: Any = None, /) -> Any: ...
    def create_scalar_function(self, name: str, callable: Any, /, *, flags: int) -> None: ...  # noqa: A002 - its name


class RowSeals:
    """Adds the triggers to one connection, each table's when it is first written: that takes a millisecond for all."""

    def __init__(self, connection: Connection, folder: Path, innocuous: int, statements: Iterable[str] = ()) -> None:
        """`statements` made the schema. Its triggers are added too: those of the file itself do not run."""
        self._connection, self._folder = connection, folder
        self._own: dict[str, list[str]] = {}
        for found in filter(None, map(_trigger, statements)):
            self._own.setdefault(found[2], []).append(f"CREATE TEMP TRIGGER IF NOT EXISTS {found[1]}")
        self._key = b""
        self._end: bytes | None = None
        self._seen: set[str] = set()  # statements whose table has its triggers
        connection.create_scalar_function("snell_seal", self._seal, flags=innocuous)
        connection.create_scalar_function("snell_tally", self._tally, flags=innocuous)

    def prepare(self, sql: str) -> None:
        """Add the triggers of the table that a statement writes."""
        if sql in self._seen:
            return
        found = _writes(sql)
        table = found[1] if found else ""
        for each in self._own.get(table, ()):
            self._connection.execute(each)
        if table in TABLES and not self._add_triggers(table):
            return  # a database that has no seals yet
        if len(self._seen) > _MOST_STATEMENTS:
            self._seen.clear()
        self._seen.add(sql)

    def forget_triggers(self) -> None:
        """Note that a transaction was rolled back: triggers that were made in it are gone."""
        self._seen.clear()

    def note_chain(self, count: int, link: str) -> None:
        """Note the committed end of the audit chain, for the seals from now on."""
        self._end = end_of_chain(count, link)

    def _add_triggers(self, table: str) -> bool:
        names = columns(lambda sql: self._connection.execute(sql).fetchall(), table)
        if not names:
            return False
        self._end = self._end or self._read_end()
        row = "run_id = NEW.run_id AND idempotency_key = NEW.idempotency_key"
        row = row if table in WITHOUT_ROWID else "rowid = NEW.rowid"
        values = ", ".join(f"NEW.{name}" for name in names)
        seal = f"UPDATE {table} SET seal = snell_seal('{table}', {values}) WHERE {row};"
        tally = f"UPDATE row_tallies SET tally = snell_tally(tally, '{table}', {{}}) WHERE name = '{table}';"
        new = f"(SELECT seal FROM {table} WHERE {row})"
        if table not in TALLIED:
            tally = ""
        for when, action in (
            ("INSERT", seal + tally.format(f"1, {new}, x''")),
            (f"UPDATE OF {', '.join(names)}", seal + tally.format(f"0, {new}, OLD.seal")),
            *([("DELETE", tally.format("-1, x'', OLD.seal"))] if tally else []),
        ):
            name = f"seal_{table}_{when[:6].lower()}"
            self._connection.execute(
                f"CREATE TEMP TRIGGER IF NOT EXISTS {name} AFTER {when} ON {table} BEGIN {action} END"
            )
        return True

    def _read_end(self) -> bytes:
        sql = "SELECT seq, link FROM audit_chain WHERE typeof(seq) = 'integer' ORDER BY seq DESC LIMIT 1"
        found = self._connection.execute(sql).fetchall()
        return end_of_chain(int(found[0][0]), str(found[0][1])) if found else bytes(_END)

    def _known_key(self) -> bytes:
        # The key of a new database is made soon after its first rows.
        if not self._key and stat_or_none(self._folder / KEY_FILE):
            with suppress(StoreError):  # a row is written all the same; its seal is missed later
                self._key = read_key(self._folder)
        return self._key

    def _seal(self, table: str, *values: Any) -> bytes:
        key = self._known_key()
        return seal_of(key, table, values, self._end or bytes(_END)) if key else b""

    def _tally(self, tally: bytes, table: str, more: int, new: object, old: object) -> bytes:
        """Return the tally after a change; one that has not begun, or is not valid, stays as it is."""
        key = self._known_key()
        before = read_tally(key, table, tally) if key and tally else None
        if before is None:
            return tally
        rows, total = before
        return tally_of(key, table, rows + more, total + number_of(new) - number_of(old))


def columns(rows: Callable[[str], list[tuple[Any, ...]]], table: str) -> list[str]:
    """Return the sealed columns in their order, later ones at the end; none if the table has no seals."""
    names = [str(row[1]) for row in rows(f"PRAGMA table_info({table})")]
    return [name for name in names if name not in ("seal", *TABLES[table])] if "seal" in names else []


def end_of_chain(count: int, link: str) -> bytes:
    with suppress(ValueError, OverflowError):
        return count.to_bytes(6, "big") + bytes.fromhex(link[:8])
    return bytes(_END)


def seal_of(key: bytes, table: str, values: tuple[Any, ...], end: bytes) -> bytes:
    """Return the seal of a row: a MAC, the end of the chain, and how many columns it covers."""
    rest = end + len(values).to_bytes(1, "big")
    return _mac(key, rest + _encode((table, *values))) + rest


def is_sealed(key: bytes, table: str, values: tuple[Any, ...], seal: object) -> bool:
    """Whether a seal is valid. One of an earlier version covers fewer columns; later ones come at the end."""
    if not isinstance(seal, bytes) or len(seal) != DIGEST + _END + 1:
        return False
    return seal == seal_of(key, table, values[: seal[-1]], seal[DIGEST:-1])


def ids_with_valid_seal(tx: Transaction, key: bytes, table: str, id_: str, ids: list[str]) -> list[str]:
    """Return the ids of these rows without those whose seal is not valid; without a key all of them."""
    names = columns(tx.rows, table) if key and ids and tx.dialect == "sqlite" else []
    if not names:
        return ids
    sql = f"SELECT {id_}, seal, {', '.join(names)} FROM {table} WHERE {id_} IN ({blanks(ids)})"
    forged = {row[0] for row in tx.rows(sql, *ids) if not is_sealed(key, table, row[2:], row[1])}
    return [each for each in ids if each not in forged]


def end_in_seal(seal: bytes) -> tuple[int, str]:
    """Return the length of the chain, and the first digits of its last link, when a row was sealed."""
    end = seal[DIGEST:-1]
    return int.from_bytes(end[:6], "big"), end[6:].hex()


def number_of(seal: object) -> int:
    """Return the number that a tally adds for a seal; 0 for what another program wrote in its place."""
    return int.from_bytes(seal[:DIGEST], "big") if isinstance(seal, bytes) else 0


def tally_of(key: bytes, table: str, rows: int, total: int) -> bytes:
    text = max(0, rows).to_bytes(8, "big") + (total % (1 << 8 * DIGEST)).to_bytes(DIGEST, "big")
    return text + _mac(key, b"tally " + table.encode() + text)


def read_tally(key: bytes, table: str, tally: object) -> tuple[int, int] | None:
    """Return the number of rows and the sum of their seals; None if the tally is not valid."""
    if not isinstance(tally, bytes) or len(tally) != _TALLY + DIGEST:
        return None
    rows, total = int.from_bytes(tally[:8], "big"), int.from_bytes(tally[8:_TALLY], "big")
    return (rows, total) if tally == tally_of(key, table, rows, total) else None


def _mac(key: bytes, data: bytes) -> bytes:
    return hashlib.blake2b(data, key=key[:64], digest_size=DIGEST).digest()
