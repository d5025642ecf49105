"""Memories keep their promises on every backend, the real PostgreSQL included."""

from collections.abc import Callable
from pathlib import Path

import pytest

from snell.llm.embeddings.static_vectors import signature_of, vector_of
from snell.memory import rows
from snell.memory.decay import decay, reinforce
from snell.memory.recall import Question, nearby, recall
from snell.memory.remember import add_dense, re_embed, remember, without_dense
from snell.memory.shortlist import bump, shortlist_of
from snell.memory.types import Draft, StoreResult
from snell.model.protocols import Database
from snell.store.sqlite import SqliteDatabase

Make = Callable[[str], Database]

TEXTS = (
    "We decided to use PostgreSQL for billing because SQLite locks under load",
    "The login page keeps its token in a cookie named `sid_v2`",
    "test_queue_drain needs QUEUE_WAIT=5 in the environment",
    "Zwölf Boxkämpfer: naïve café 数据库 'quoted' & | ! <-> words",
)


@pytest.fixture
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    if request.param != "sqlite":
        on_postgres = request.getfixturevalue("on_postgres")
        return lambda place: on_postgres(place, pgvector=request.param == "pgvector")
    return lambda place: SqliteDatabase(tmp_path / "state" / f"{place}.db")


on_a_server = [pytest.param(name, marks=pytest.mark.process) for name in ("postgres", "pgvector")]
every_backend = pytest.mark.parametrize("make", ["sqlite", *on_a_server], indirect=True)


def keep(database: Database, text: str, **fields) -> StoreResult:
    draft = Draft(content=text, **{"project": "a", "signal": 0.9, **fields})
    return database.run(lambda tx: remember(tx, draft, shortlist_of(database), is_gated=False))


def best(database: Database, text: str, project: str = "a", **fields) -> list[str]:
    question = Question(text=text, project=project, **fields)
    return [each.memory.content for each in database.run(lambda tx: recall(tx, question, shortlist_of(database)))]


@every_backend
def test_memories_live_on_every_backend(make: Make) -> None:
    database = make("memories")
    ids = [keep(database, text, tags=("t",), metadata={"k": [1]}).id for text in TEXTS]
    assert keep(database, TEXTS[0].upper()).status == "rejected_exact"
    assert keep(database, f"Well, {TEXTS[0]}!").status == "rejected_similar"
    for question, answer in (("which database did we choose", 0), ("sid_v2", 1), ("QUEUE_WAIT", 2), ("café 数据库", 3)):
        assert best(database, question)[0] == TEXTS[answer]
        assert best(database, question, project="b") == []
    for odd in ("'", "a & | !", "<->", "\\", '"', "the and of"):
        assert len(best(database, odd)) <= 5
    near = database.run(lambda tx: nearby(tx, ids[0], shortlist_of(database), limit=3))
    assert len(near) == 3
    assert database.run(lambda tx: rows.get(tx, ids[3])).metadata == {"k": [1]}
    assert database.run(rows.stats).memories == 4
    database.run(lambda tx: reinforce(tx, ids[:1], boost_type="set_value", boost_amount=1))
    assert len(database.run(lambda tx: decay(tx, now=10**14, dry_run=False))) == 4
    assert database.run(lambda tx: rows.rename_namespace(tx, "default", "other")) == 4
    assert best(database, "sid_v2", namespace="other", alpha=0.0) == [TEXTS[1]]
    database.run(lambda tx: add_dense(tx, "m", [(ids[1], bytes(8))]))
    assert len(database.run(lambda tx: without_dense(tx, "m"))) == 3
    assert sorted(database.run(lambda tx: rows.forget(tx, ids[:2]))) == sorted(ids[:2])
    assert best(database, "sid_v2", alpha=0.0) == []
    assert database.run(lambda tx: rows.delete_namespace(tx, "other", dry_run=False)) == 2
    assert database.run(rows.stats) == rows.Stats()
    database.close()


@every_backend
def test_a_key_and_a_frequent_word_work_on_every_backend(make: Make, monkeypatch) -> None:
    monkeypatch.setattr("snell.memory.recall.FREQUENT", 2)
    database = make("frequent")
    first = keep(database, TEXTS[0], idempotency_key="k")
    assert keep(database, TEXTS[1], idempotency_key="k") == StoreResult(
        status="rejected_exact", id=first.id, similarity=1.0
    )
    keep(database, "cookie jar in the kitchen")
    keep(database, "cookie banner on the page")
    assert best(database, "cookie", alpha=0.0, limit=1) == ["cookie banner on the page"]
    database.close()


@every_backend
def test_corrections_and_a_new_name_of_the_project_work_on_every_backend(make: Make) -> None:
    database = make("corrections")
    old, new = "Billing runs on PostgreSQL 15 for its partitions", "Billing runs on PostgreSQL 16 for its partitions"

    def said(text: str, at: int) -> StoreResult:
        draft = Draft(content=text, project="a", signal=0.95, at=at)
        return database.run(lambda tx: remember(tx, draft, shortlist_of(database)))

    first, second = said(old, 1_000), said(new, 2_000)
    assert (second.supersedes, best(database, "PostgreSQL of billing")) == (first.id, [new, old])
    assert said(old, 3_000).status == "rejected_exact"
    assert best(database, "PostgreSQL of billing") == [old, new]
    keep(database, old, project="b", idempotency_key="k")
    keep(database, TEXTS[1], project="b", idempotency_key="k")
    assert database.run(lambda tx: rows.move_project(tx, "a", "b")) == 1
    assert database.run(lambda tx: rows.move_project(tx, "a", "b")) == 0
    assert database.run(lambda tx: rows.stats(tx)).projects == {"b": 2}
    assert best(database, "PostgreSQL 16", project="b")[0] == new
    memory = rows.Memory(id=second.id, content=new, created_at=2_000, updated_at=2_500, accessed_at=2_600, accesses=7)
    database.run(lambda tx: rows.restore_use(tx, second.id, memory))
    kept = database.run(lambda tx: rows.get(tx, second.id))
    assert (kept.updated_at, kept.accessed_at, kept.accesses) == (2_500, 2_600, 7)
    database.close()


@every_backend
def test_vectors_of_an_earlier_make_are_made_anew_on_every_backend(make: Make) -> None:
    database = make("makes")
    for text in TEXTS:
        keep(database, text)
    old = "UPDATE memories SET vector = ?, signature = ?, vector_make = 'static-1'"
    database.run(lambda tx: tx.do(old, b"\1" * 256, b"\xff" * 32))
    assert best(database, "seaport ruffian lorry", alpha=1.0, min_similarity=0.9) == []
    assert [database.run(lambda tx: re_embed(tx, 3)) for _ in range(3)] == [3, 1, 0]
    database.run(bump)
    found = database.run(lambda tx: tx.rows("SELECT content, vector, signature, vector_make FROM memories"))
    assert {text: (bytes(vector), bytes(signature), made) for text, vector, signature, made in found} == {
        text: (vector_of(text), signature_of(vector_of(text)), "static-3") for text in TEXTS
    }
    assert best(database, "authentication web site biscuit", alpha=1.0, limit=1) == [TEXTS[1]]
    database.close()
