"""
Numbered changes of the schema, forward only. Both dialects read the same files; `-- only NAME` to `-- end` marks what
one of them alone understands.
"""

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from snell.model.errors import StoreError
from snell.model.meta_table import put_meta
from snell.model.protocols import Transaction

FOLDER = Path(__file__).parent / "migrations"

_HAS_META = {
    "sqlite": "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'meta'",
    "postgres": "SELECT count(*) FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'meta'",
}


class Step(Struct, frozen=True):
    number: int
    statements: tuple[str, ...]


def steps(dialect: str, folder: Path = FOLDER) -> tuple[Step, ...]:
    """All steps for this dialect, in order."""
    files = sorted(folder.glob("[0-9]*_*.sql"))
    return tuple(
        Step(int(file.name.split("_")[0]), _statements(file.read_text(encoding="utf-8"), dialect)) for file in files
    )


def version_of(tx: Transaction, dialect: str) -> int:
    """The number of the last step that was taken here; 0 where nothing is yet."""
    if not tx.rows(_HAS_META[dialect])[0][0]:
        return 0
    found = tx.rows("SELECT value FROM meta WHERE name = 'schema'")
    return int(found[0][0]) if found else 0


def migrate(tx: Transaction, dialect: str, wanted: Sequence[Step]) -> None:
    """
    Take the steps that are missing.

    INVARIANT: this happens in one transaction, so a crash leaves the old schema or the new one.
    """
    version = version_of(tx, dialect)
    missing = [step for step in wanted if step.number > version]
    for step in missing:
        for statement in step.statements:
            tx.do(statement)
    if missing:
        put_meta(tx, "schema", str(missing[-1].number))


def newer(version: int, where: str) -> StoreError:
    """A state that a later program made: it can be looked at, and nothing else."""
    message = f"was made by a newer Snell (schema {version}), so it can be read and not written"
    return StoreError(message, where=where, advice="upgrade this one")


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
