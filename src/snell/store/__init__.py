"""
Open databases: one module per backend, listed in `BACKENDS`.

How to add a column to a table, for example to the ledger (`tool_calls`):
1. Add a file `migrations/NNNN_subject.sql` with the next number: `ALTER TABLE tool_calls ADD COLUMN ...`. Databases
   are upgraded when they are opened (`migrate.py`). Never edit an older file.
2. Add a field with the same name to the struct of its rows: `Call` in `records/ledger.py` for `tool_calls`, `Row` in
   `records/decisions.py` for `decisions`, `Claim` in `records/claims.py` for `tool_claims`. Any new field of these
   starts a new segment of the audit chain, since its digests cover them. Seals (`records/row_seals.py`) cover any new
   column of their tables by themselves; a new table of records needs a column `seal` and a line there.
3. For a column of `tool_calls` that is written when a call ends: add a field to `End` too, in `records/ledger.py`,
   and the name to `_MUTABLE` in `records/audit_chain.py`; else the audit reports the change as tampering.
4. For a table that machines share (tasks, efforts, sessions, ...; `tool_calls` is not shared): add the column to the
   `WorkTable` in `work/`, and to `replication/work_tables.py` if it is local to a machine.

How to add a backend: write a module with a function `open_database(address, low_latency)` that returns a
`snell.model.protocols.Database`, and add a line to `BACKENDS`; another distribution names its module in the entry-point
group `snell.stores` instead. `snell.testing.store_contract` checks a backend.
"""

from importlib import import_module
from pathlib import Path
from typing import Any

from snell.model.errors import StoreError
from snell.model.protocols import Database
from snell.system.version import any_declares

# The scheme of an address -> the module of its backend.
BACKENDS = {"sqlite": "snell.store.sqlite", "postgres": "snell.store.postgres", "postgresql": "snell.store.postgres"}
ENTRY_POINTS = "snell.stores"
_SAFE_WORDS = ("host=", "hostaddr=", "port=", "dbname=", "user=", "sslmode=")


def open_database(address: str | Path, *, low_latency: bool = False) -> Database:
    """
    Return the database at an address: the path of an SQLite file, or `SCHEME:...` for the backend of that scheme.

    Text without a scheme is a connection string of PostgreSQL (`host=... dbname=...`). With `low_latency` the database
    does not wait long for other programs that write, because clients wait for its caller.
    """
    first, colon, _ = str(address).partition(":")
    named = first if colon and first.isidentifier() else "postgres"
    scheme = "sqlite" if isinstance(address, Path) else named
    database: Database = _backend(scheme).open_database(str(address), low_latency=low_latency)
    return database


def display_address(address: str) -> str:
    """Return host and database of a server's address without any password; `PostgreSQL` when in doubt."""
    if "pass" in address.lower() or "'" in address or "\\" in address:
        return "PostgreSQL"
    scheme, is_url, rest = address.partition("://")
    if is_url:
        # A password may contain any of `:/?#`, so only the text after the last `@` is safe.
        return f"{scheme}://{rest.rpartition('@')[2].partition('?')[0]}"
    return " ".join(word for word in address.split() if word.startswith(_SAFE_WORDS)) or "PostgreSQL"


def _backend(scheme: str) -> Any:
    """Return the module of a backend. It is imported now: drivers are slow to import, and may not be installed."""
    if scheme in BACKENDS:
        return import_module(BACKENDS[scheme])
    if any_declares(ENTRY_POINTS):
        from importlib.metadata import entry_points  # slow to import

        for point in entry_points(group=ENTRY_POINTS, name=scheme):
            return point.load()
    known = ", ".join(f"`{each}:`" for each in BACKENDS)
    advice = f"begin the address with {known}, or install the package that provides `{scheme}:`"
    raise StoreError(f"there is no store backend `{scheme}`", advice=advice)
