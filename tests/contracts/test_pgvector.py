"""A server with pgvector finds near memories itself; one without, or a user without the right, makes no difference."""

import random

import pytest

from snell.memory.recall import Question, recall
from snell.memory.remember import add_dense, remember
from snell.memory.shortlist import shortlist_of
from snell.memory.types import Draft
from snell.model.protocols import Database
from snell.store.postgres import PostgresDatabase
from tests.postgres_server import TestDatabase

pytestmark = pytest.mark.process

THINGS = ("parser", "cookie", "invoice", "queue", "cache", "login", "release", "index", "mail", "thumbnail")


def fill(database: Database, number: int, project: str = "a") -> list[str]:
    chance = random.Random(5)

    def work(tx) -> list[str]:
        found = []
        for at in range(number):
            text = f"the {chance.choice(THINGS)} of {chance.choice(THINGS)} waits for {chance.choice(THINGS)} {at}"
            draft = Draft(content=text, project=project)
            found.append(remember(tx, draft, shortlist_of(database), similar=2.0, is_gated=False).id)
        return found

    return database.run(work)


def asked(database: Database, text: str, project: str = "a", **more) -> list[str]:
    question = Question(text=text, project=project, alpha=1.0, **more)
    lists = shortlist_of(database), shortlist_of(database, "dense_signature")
    return [each.memory.content for each in database.run(lambda tx: recall(tx, question, *lists))]


def test_both_ways_find_the_same_and_what_was_there_before_is_found_too(on_postgres) -> None:
    plain = on_postgres("same", pgvector=False)
    fill(plain, 120)
    assert plain.run(lambda tx: tx.vectors) == ""
    server = on_postgres("same")
    assert server.run(lambda tx: tx.vectors) == '"public"'
    for thing in THINGS:
        assert asked(server, f"{thing} waits") == asked(plain, f"{thing} waits")
    fill(plain, 5, "written by one who knows nothing of it")
    assert len(asked(server, "cookie queue", "written by one who knows nothing of it")) == 5
    plain.close()
    server.close()


def test_a_small_project_among_large_ones_is_not_crowded_out(on_postgres) -> None:
    server = on_postgres("crowd")
    fill(server, 1500, "large")
    fill(server, 3, "small")
    assert len(asked(server, "the parser of cookie waits for queue", "small")) == 3
    plan = server.run(lambda tx: tx.rows(f"EXPLAIN SELECT seq FROM memories WHERE {WHERE} ORDER BY {ORDER} LIMIT 5"))
    assert "memories_by_near" in str(plan)
    server.close()


WHERE = "octet_length(vector) = 256"
ORDER = f"(near::public.vector(256)) OPERATOR(public.<=>) '{[1] * 256}'::public.vector(256)"


@pytest.mark.parametrize("width", [4, 384])
def test_vectors_of_a_model_are_compared_on_the_server(width: int, on_postgres) -> None:
    server = on_postgres(f"dense{width}")
    ids = fill(server, 20)
    seen = [(id_, bytes((at * at + place * at) % 256 for place in range(width))) for at, id_ in enumerate(ids)]
    server.run(lambda tx: add_dense(tx, "m", seen))
    found = asked(server, "zzz", dense=seen[7][1], dense_model="m", limit=1)
    assert found[0].endswith(" 7")
    assert asked(server, "zzz", dense=bytes([1] * 8), dense_model="m") == []
    server.close()


def test_a_user_who_may_not_have_the_extension_does_without(postgres: TestDatabase) -> None:
    psycopg = pytest.importorskip("psycopg")
    user, without, named_with = (f"{postgres.name}_{what}" for what in ("user", "without", "with"))
    with psycopg.connect(postgres.address, autocommit=True) as admin:
        admin.execute(f"CREATE ROLE {user} LOGIN")
        for place in (without, named_with):
            admin.execute(f"CREATE DATABASE {place}")
            admin.execute(f"GRANT CREATE ON DATABASE {place} TO {user}")
    named = postgres.address.replace(f"dbname={postgres.name}", f"dbname={named_with}")
    with psycopg.connect(named, autocommit=True) as admin:
        admin.execute("CREATE SCHEMA extensions")
        admin.execute("GRANT USAGE ON SCHEMA extensions TO PUBLIC")
        admin.execute("CREATE EXTENSION vector SCHEMA extensions")
    for place, vectors in ((without, ""), (named_with, '"extensions"')):
        address = postgres.address.replace(f"user=postgres dbname={postgres.name}", f"user={user} dbname={place}")
        ours = PostgresDatabase(address)
        fill(ours, 3)
        assert (ours.run(lambda tx: tx.vectors), len(asked(ours, "cookie queue"))) == (vectors, 3)
        ours.close()
