"""
Use pgvector on a server that has it: additional columns with the vectors of memories, and an index.

The server computes these columns from the plain ones, so programs that do not know the extension fill them too.
Without the extension Snell compares the vectors itself.
"""

from pathlib import Path
from typing import Any

from snell.memory.sql import scope
from snell.model.protocols import Transaction

SCHEMA = "public"  # where it is created; never in a schema of ours, which a user may drop
WIDTH, MODEL_WIDTH = 256, 384  # of the offline vectors, and of MiniLM's, which alone have an index

_COLUMNS = Path(__file__).with_suffix(".sql")
_EXTENSION_SCHEMA = (
    "SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'"
)
_HAS_COLUMNS = (
    "SELECT 1 FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = 'memories'"
    " AND column_name = 'dense_near'"
)


def vectors_schema(connection: Any, psycopg: Any, lock: int) -> str:
    """Return the schema of the extension, quoted, if memories have its columns; empty if they cannot."""
    try:
        with connection.transaction():
            found = connection.execute(_EXTENSION_SCHEMA).fetchone()
            is_there = found and connection.execute(_HAS_COLUMNS).fetchone()
        with connection.transaction():
            schema = _quote(found[0]) if is_there else _create(connection, lock)
            # So that an index over all projects returns enough rows of the one that is asked for.
            connection.execute("SET hnsw.ef_search TO 200")
            connection.execute("SET hnsw.iterative_scan TO strict_order")
    except psycopg.Error:  # not installed there, too old, or not permitted for this user: all of them are usual
        return ""
    return schema


def nearest(tx: Transaction, column: str, vector: bytes, *, project: str, namespace: str, most: int) -> list[int]:
    """Return the `seq` of the memories with the nearest vectors, the nearest first; `column` is their signature's."""
    if not any(vector):
        return []
    plain, ours, indexed = _COLUMNS_OF[column]
    kind = f"{tx.vectors}.vector({len(vector)})"
    where, values = scope(project, namespace)
    numbers = [(each + 128) % 256 - 128 for each in vector]
    # An index serves exactly the expression that it was created with.
    left = f"({ours}::{kind})" if len(vector) == indexed else ours
    order = f"{left} OPERATOR({tx.vectors}.<=>) CAST(? AS {kind})"
    sql = f"SELECT seq FROM memories WHERE octet_length({plain}) = {len(vector)} AND {where} ORDER BY {order} LIMIT ?"
    return [int(seq) for (seq,) in tx.rows(sql, *values, str(numbers), most)]


_COLUMNS_OF = {"signature": ("vector", "near", WIDTH), "dense_signature": ("dense", "dense_near", MODEL_WIDTH)}


def _create(connection: Any, lock: int) -> str:
    connection.execute("SELECT pg_advisory_xact_lock(%s)", (lock,))
    connection.execute("SET LOCAL statement_timeout TO 0")  # it runs once over all memories
    if not connection.execute(_EXTENSION_SCHEMA).fetchone():
        connection.execute(f"CREATE EXTENSION vector SCHEMA {SCHEMA}")
    schema = _quote(connection.execute(_EXTENSION_SCHEMA).fetchone()[0])
    if not connection.execute(_HAS_COLUMNS).fetchone():
        sizes = {"width": WIDTH, "model_width": MODEL_WIDTH}
        connection.execute(
            _COLUMNS.read_text(encoding="utf-8").format(schema=schema, vector=f"{schema}.vector", **sizes)
        )
    return schema


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
