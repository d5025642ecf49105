"""Compare the schema of an SQLite database with the one that Snell makes."""

import apsw

from snell.model.protocols import Transaction
from snell.records import row_seals
from snell.store.migrate import schema_version, steps

NEEDED = (*row_seals.TABLES, "tool_bodies", "audit_chain", "row_tallies")
_ADDED = "SELECT type, name, sql FROM sqlite_master WHERE type <> 'table' AND sql IS NOT NULL"


def schema_problems(tx: Transaction) -> tuple[str, ...]:
    """Return what another program removed from the schema, or added to it to change or hide rows."""
    if tx.dialect != "sqlite":
        return ()
    wanted, own = steps("sqlite"), apsw.Connection(":memory:")
    for statement in (each for step in wanted for each in step.statements):
        own.execute(statement)
    known = {str(name) for (name,) in tx.rows("SELECT name FROM sqlite_master WHERE type = 'table'")}
    problems = [f"the table `{name}` was removed" for name in NEEDED if name not in known]
    for table in known.intersection(NEEDED):
        columns = f"PRAGMA table_info({table})"
        names = {row[1] for row in tx.rows(columns)}
        gone = [row[1] for row in own.execute(columns).fetchall() if row[1] not in names]
        problems += [f"the column `{name}` of `{table}` was removed" for name in gone]
    if schema_version(tx, "sqlite") <= wanted[-1].number:  # a newer Snell adds what this one does not know
        made = set(own.execute(_ADDED).fetchall())
        others = [row for row in tx.rows(_ADDED) if row not in made]
        problems += [f"the {kind} `{name}` was added or changed by another program" for kind, name, _ in others]
    return tuple(problems)
