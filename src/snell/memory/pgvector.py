"""
Use pgvector on a server that has it: additional columns with the vectors of memories, and an index.

The server computes these columns from the plain ones, so programs that do not know the extension fill them too.
Without the extension Snell compares the vectors itself.
"""

from typing import Any

from snell.memory.types import ANY
from snell.model.protocols import Transaction

SCHEMA = "public"  # where it is created; never in a schema of ours, which a user may drop
WIDTH, MODEL_WIDTH = 256, 384  # of the offline vectors, and of MiniLM's, which alone have an index

_EXTENSION_SCHEMA = (
    "SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'"
)
_HAS_COLUMNS = (
    "SELECT 1 FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = 'memories'"
    " AND column_name = 'dense_near'"
)
# Signed bytes as the text of a vector.
_COLUMNS = """
CREATE OR REPLACE FUNCTION memory_vector (numbers BYTEA) RETURNS {vector} LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
AS $$
  SELECT ('[' || string_agg(((get_byte(numbers, at) + 128) % 256 - 128)::text, ',' ORDER BY at) || ']')::{vector}
  FROM generate_series(0, octet_length(numbers) - 1) AS at
$$;
ALTER TABLE memories ADD COLUMN near {vector} GENERATED ALWAYS AS (memory_vector(vector)) STORED;
ALTER TABLE memories ADD COLUMN dense_near {vector} GENERATED ALWAYS AS (memory_vector(dense)) STORED;
CREATE INDEX memories_by_near ON memories USING hnsw ((near::{vector}({width})) {schema}.vector_cosine_ops)
  WHERE octet_length(vector) = {width};
CREATE INDEX memories_by_dense_near ON memories USING hnsw
  ((dense_near::{vector}({model_width})) {schema}.vector_cosine_ops) WHERE octet_length(dense) = {model_width};
"""


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
    where, values = [f"octet_length({plain}) = {len(vector)}"], []
    for name, value, everything in (("project", project, ANY), ("namespace", namespace, "")):
        if value != everything:
            where.append(f"{name} = ?")
            values.append(value)
    numbers = [(each + 128) % 256 - 128 for each in vector]
    # An index serves exactly the expression that it was created with.
    left = f"({ours}::{kind})" if len(vector) == indexed else ours
    order = f"{left} OPERATOR({tx.vectors}.<=>) CAST(? AS {kind})"
    sql = f"SELECT seq FROM memories WHERE {' AND '.join(where)} ORDER BY {order} LIMIT ?"
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
        connection.execute(_COLUMNS.format(schema=schema, vector=f"{schema}.vector", **sizes))
    return schema


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
