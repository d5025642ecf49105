"""
Store a text, unless it is a duplicate or says too little.

        draft -> validated -> exact duplicate? -> similar, and saying the same? -> quality -> stored

A text that is similar to a memory and corrects it is stored, and the older one is marked as superseded.

INVARIANT: a project contains a text once, however often it is sent; a constraint of the table ensures that.
"""

import os
from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from snell.llm.embeddings import static_vectors
from snell.llm.embeddings.static_vectors import cosines, signature_of, vector_of, wording_of
from snell.llm.embeddings.stems import terms
from snell.memory.corrections import is_marked, mark_superseded, undo_superseded
from snell.memory.near_duplicates import agree, corrects
from snell.memory.shortlist import Shortlist, generation
from snell.memory.sql import rows_for
from snell.memory.types import Draft, Status, StoreResult, content_hash
from snell.memory.validation import LOWER, REJECT, quality, validate_draft
from snell.model.protocols import Transaction
from snell.model.tables import blanks
from snell.system.wall_clock import now_ms

SIMILAR = 0.85  # from this similarity on it is a repetition
MAYBE = 0.80  # from this similarity on it may be one
LOOKED_AT = 40  # memories whose vectors are compared
COMPARED = 5  # memories that are compared word by word
WORTH_A_LOOK = 0.5  # of the vectors: texts with less similar meanings do not have a similar wording either

AT_ONCE = 25  # vectors in one transaction; a very long text takes tens of milliseconds, and others wait to write


class Assessment(Struct, frozen=True, kw_only=True):
    """The decision about a draft, for the memories that existed then. Nothing is written yet."""

    draft: Draft
    kept: StoreResult  # `stored` is what it will be
    vector: bytes = b""
    snapshot: tuple[int, str] = (0, "")  # identifies the memories that it was compared with
    reinstates: bool = False  # its text was corrected once, and is stated again


def remember(
    tx: Transaction,
    draft: Draft,
    shortlist: Shortlist,
    *,
    similar: float = SIMILAR,
    is_gated: bool = True,
    now: int = 0,
    memory_id: str = "",
) -> StoreResult:
    """
    Store a draft, or say why not. `is_gated=False` is for what a user wants stored as it is, such as an import.

    Nothing here waits: the vector is the offline one. A model's vector is added later with `add_dense`.
    """
    assessment = assess(tx, draft, shortlist, similar=similar, is_gated=is_gated)
    return _store(tx, assessment, now or now_ms(), memory_id)


def assess(
    tx: Transaction,
    draft: Draft,
    shortlist: Shortlist,
    *,
    similar: float = SIMILAR,
    is_gated: bool = True,
    compares_words: bool = True,
) -> Assessment:
    """
    Do the long part of `remember`: it only reads, so that others can write meanwhile.

    Without `compares_words` a similar text is a duplicate, also if it says something else.
    """
    draft, snapshot = validate_draft(draft), _snapshot(tx)
    known = _existing_memory(tx, draft)
    if known:
        return Assessment(draft=draft, kept=known, snapshot=snapshot, reinstates=is_marked(tx, known.id))
    vector = vector_of(draft.content)
    near = find_similar(tx, draft, vector, shortlist) if similar <= 1 else []
    least = min(similar, MAYBE) if is_gated else similar  # a less similar one is no reason to refuse
    alike = [each for each in near if each.similarity >= least]
    same = next((each for each in alike if not compares_words or agree(draft.content, each.content)), None)
    if same:
        status: Status = "rejected_similar" if same.similarity >= similar else "potential_duplicate"
        refused = StoreResult(status=status, id=same.id, similarity=same.similarity)
        return Assessment(draft=draft, kept=refused, snapshot=snapshot)
    score = quality(draft)
    if is_gated and score < REJECT:
        return Assessment(draft=draft, kept=StoreResult(status="rejected_quality", quality=score), snapshot=snapshot)
    importance = min(draft.importance, score) if is_gated and score < LOWER else draft.importance
    older = next((each.id for each in near if each.similarity >= MAYBE and corrects(draft.content, each.content)), "")
    kept = StoreResult(
        status="stored",
        quality=score,
        importance=importance,
        similarity=near[0].similarity if near else 0.0,
        supersedes=older if is_gated else "",
    )
    return Assessment(draft=replace(draft, importance=importance), kept=kept, vector=vector, snapshot=snapshot)


def store_assessed(
    tx: Transaction,
    assessment: Assessment,
    shortlist: Shortlist,
    *,
    similar: float = SIMILAR,
    compares_words: bool = True,
) -> StoreResult:
    """Do the short part: write what was assessed; if memories came meanwhile, assess it again."""
    if assessment.snapshot != _snapshot(tx):
        assessment = assess(tx, assessment.draft, shortlist, similar=similar, compares_words=compares_words)
    return _store(tx, assessment, now_ms())


def _store(tx: Transaction, assessment: Assessment, now: int, memory_id: str = "") -> StoreResult:
    kept, draft = assessment.kept, assessment.draft
    if assessment.reinstates:
        undo_superseded(tx, kept.id, draft.at or now)
    if not kept.is_stored:
        return kept
    id_ = _insert(tx, draft, assessment.vector, now, memory_id)
    if kept.supersedes:
        mark_superseded(tx, kept.supersedes, id_)
    return replace(kept, id=id_)


def _snapshot(tx: Transaction) -> tuple[int, str]:
    """Return a value that changes when a memory is added or gets another project or namespace."""
    return int(tx.rows("SELECT coalesce(max(seq), 0) FROM memories")[0][0]), generation(tx)


def find_similar(tx: Transaction, draft: Draft, vector: bytes, shortlist: Shortlist) -> list["SimilarMemory"]:
    """Return the memories of its project with the most similar wording, the nearest first; `vector` is the draft's."""
    seqs = shortlist.near(tx, vector, project=draft.project, most=LOOKED_AT)
    if not seqs:
        return []
    rows = list(rows_for(tx, "SELECT id, content, vector FROM memories WHERE seq IN ({})", seqs))
    near = cosines(vector, [bytes(other) for _, _, other in rows])
    alike = [pair for pair in zip(near, rows, strict=True) if pair[0] >= WORTH_A_LOOK]
    best = sorted(alike, key=lambda each: -each[0])[:COMPARED]
    if not best:
        return []
    worded = cosines(wording_of(draft.content), [wording_of(str(content)) for _, (_, content, _) in best])
    pairs = zip(best, worded, strict=True)
    found = [SimilarMemory(str(row[0]), str(row[1]), round(each, 4)) for (_, row), each in pairs]
    return sorted(found, key=lambda each: -each.similarity)


class SimilarMemory(Struct, frozen=True):
    """A memory that is similar to a draft."""

    id: str
    content: str
    similarity: float


def without_dense(tx: Transaction, model: str, limit: int = 50) -> list[tuple[str, str]]:
    """Return id and text of memories that this model has not embedded yet."""
    sql = "SELECT id, content FROM memories WHERE dense_model <> ? ORDER BY seq DESC LIMIT ?"
    return [(str(id_), str(content)) for id_, content in tx.rows(sql, model, limit)]


def add_dense(tx: Transaction, model: str, vectors: Sequence[tuple[str, bytes]]) -> None:
    """Store a model's vectors of these memories: id and vector."""
    for id_, vector in vectors:
        sql = "UPDATE memories SET dense = ?, dense_signature = ?, dense_model = ? WHERE id = ?"
        tx.do(sql, vector, signature_of(vector), model, id_)


def re_embed(tx: Transaction, limit: int = AT_ONCE) -> int:
    """
    Recompute offline vectors of an earlier version, or made without the word table; returns how many.

    Vectors of a newer version stay. Call `bump` after the last: until then both kinds are compared, which works since
    they share the dimensions of words and letters.
    """
    ours = static_vectors.vector_version()
    earlier = static_vectors.VERSIONS[: static_vectors.VERSIONS.index(ours)]
    sql = f"SELECT seq, content FROM memories WHERE vector_make IN ({blanks(earlier)}) LIMIT ?"
    found = tx.rows(sql, *earlier, limit)
    for seq, content in found:
        vector = vector_of(str(content))
        sql = "UPDATE memories SET vector = ?, signature = ?, vector_make = ? WHERE seq = ?"
        tx.do(sql, vector, signature_of(vector), ours, seq)
    return len(found)


def new_id(now: int) -> str:
    """Return a new id; it begins with the time, so that ids sort."""
    return f"{now:011x}{os.urandom(5).hex()}"


def _existing_memory(tx: Transaction, draft: Draft) -> StoreResult | None:
    if draft.idempotency_key:
        sql = "SELECT memory_id FROM memory_keys WHERE project = ? AND key = ?"
        if rows := tx.rows(sql, draft.project, draft.idempotency_key):
            return StoreResult(status="rejected_exact", id=rows[0][0], similarity=1.0)
    sql = "SELECT id FROM memories WHERE project = ? AND content_hash = ?"
    rows = tx.rows(sql, draft.project, content_hash(draft.content))
    return StoreResult(status="rejected_exact", id=rows[0][0], similarity=1.0) if rows else None


def _insert(tx: Transaction, draft: Draft, vector: bytes, now: int, memory_id: str) -> str:
    id_ = memory_id or new_id(now)
    plain = {name: getattr(draft, name) for name in ("project", "namespace", "content", "source", "agent")}
    values: dict[str, Any] = {
        **plain,
        "id": id_,
        "vector": vector,
        "signature": signature_of(vector),
        "vector_make": static_vectors.vector_version(),
        "dense_model": "",
        "content_hash": content_hash(draft.content),
        "tags": msgspec.json.encode(draft.tags).decode(),
        "metadata": msgspec.json.encode(draft.metadata).decode(),
        "importance": float(draft.importance),
        "accesses": 0,
        **dict.fromkeys(("created_at", "updated_at", "accessed_at"), draft.at or now),
    }
    sql = f"INSERT INTO memories ({', '.join(values)}) VALUES ({blanks(values)}) RETURNING seq"
    seq = int(tx.rows(sql, *values.values())[0][0])
    words = terms(f"{draft.content} {' '.join(draft.tags)}")
    if tx.dialect == "sqlite":
        tx.do("INSERT INTO memory_words (rowid, words) VALUES (?, ?)", seq, " ".join(words))
    else:
        tx.do("INSERT INTO memory_words (seq, words) VALUES (?, array_to_tsvector(?))", seq, list(dict.fromkeys(words)))
    if draft.idempotency_key:
        sql = "INSERT INTO memory_keys (project, key, memory_id) VALUES (?, ?, ?)"
        tx.do(sql, draft.project, draft.idempotency_key, id_)
    return id_
