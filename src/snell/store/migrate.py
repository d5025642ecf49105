"""
Upgrade the schema of a database with the numbered SQL files of `migrations/`, forward only.

To add a table or a column, add a file with the next number (`snell/store/__init__.py` has the other steps). All
dialects read the same files; lines between `-- only NAME` and `-- end` are for one dialect.
"""

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from snell.model.errors import StoreError
from snell.model.protocols import Transaction
from snell.model.tables import DAMAGED, get_meta_number, put_meta

FOLDER = Path(__file__).parent / "migrations"

_HAS_META = {
    "sqlite": "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'meta'",
    "postgres": "SELECT count(*) FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'meta'",
}


class Step(Struct, frozen=True):
    number: int
    statements: tuple[str, ...]


def steps(dialect: str, folder: Path = FOLDER) -> tuple[Step, ...]:
    files = sorted(folder.glob("[0-9]*_*.sql"))
    return tuple(
        Step(int(file.name.split("_")[0]), _statements(file.read_text(encoding="utf-8"), dialect)) for file in files
    )


def schema_version(tx: Transaction, dialect: str) -> int:
    """
    Return the number of the last step that this database has; 0 for an empty database.

    SQLite keeps a second copy in the header of the file, so that a damaged `meta` does not make all rows unreadable.
    """
    copied = int(tx.rows("PRAGMA user_version")[0][0]) if dialect == "sqlite" else 0
    if not tx.rows(_HAS_META[dialect])[0][0]:
        return copied
    return max(copied, get_meta_number(tx, "schema"))


def repair_meta(tx: Transaction, version: int) -> None:
    """Make `meta` usable again after another program damaged it; `snell audit verify` reports that."""
    tx.do(
        "CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL, seal BLOB NOT NULL DEFAULT x'')"
    )
    put_meta(tx, "schema", str(version))
    put_meta(tx, DAMAGED, "its value `schema` was changed or removed")


def is_meta_damaged(tx: Transaction, version: int) -> bool:
    if not tx.rows(_HAS_META["sqlite"])[0][0]:
        return True
    return tx.rows("SELECT value FROM meta WHERE name = 'schema'") != [(str(version),)]


def migrate(tx: Transaction, dialect: str, wanted: Sequence[Step]) -> None:
    """
    Execute the steps that this database does not have yet.

    INVARIANT: one transaction, so a crash leaves either the old schema or the new one.
    """
    version = schema_version(tx, dialect)
    missing = [step for step in wanted if step.number > version]
    for step in missing:
        for statement in step.statements:
            tx.do(statement)
    if missing:
        put_meta(tx, "schema", str(missing[-1].number))
        if dialect == "sqlite":
            tx.do(f"PRAGMA user_version = {missing[-1].number}")


def newer_schema_error(version: int, where: str) -> StoreError:
    """Return the error of writing to a database whose schema is newer than this program; it can only be read."""
    message = f"was made by a newer Snell (schema {version}), so it can be read but not written"
    return StoreError(message, where=where, advice="upgrade this Snell")


def _statements(text: str, dialect: str) -> tuple[str, ...]:
    kept = []
    only = ""
    for line in text.splitlines():
        if line.startswith("-- only "):
            only = line.removeprefix("-- only ").strip()
        elif line.strip() == "-- end":
            only = ""
        elif not line.startswith("--") and only in ("", dialect):
            kept.append(line)
    pieces = "\n".join(kept).split(";\n")
    return tuple(piece.strip().removesuffix(";") for piece in pieces if piece.strip())
