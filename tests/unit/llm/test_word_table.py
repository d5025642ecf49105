"""The word table: what it knows, and that nothing depends on it being there."""

from collections.abc import Callable
from pathlib import Path

import pytest

from snell.cli.health import Installation
from snell.cli.health.files import memory_checks
from snell.llm.embeddings import static_vectors, word_table
from snell.llm.embeddings.static_vectors import cosine, vector_of, wording_of
from snell.llm.embeddings.stems import stem
from snell.memory.recall import RELATED, Question, recall, synonyms
from snell.memory.remember import re_embed, remember
from snell.memory.shortlist import shortlist_of
from snell.memory.types import Draft
from snell.store.sqlite import SqliteDatabase
from snell.system.paths import Places

pytest_plugins = ("tests.unit.llm.other_word_table",)

Install = Callable[[bytes | None], word_table.WordTable]


def test_the_table_that_is_shipped_is_whole_small_and_says_where_it_comes_from() -> None:
    table = word_table.decode_table(word_table.FILE.read_bytes())
    assert (table.problem, len(table.stems) > 14_000, word_table.FILE.stat().st_size < 2_000_000) == ("", True, True)
    assert "all-MiniLM-L6-v2 (Apache License 2.0)" in table.header.about
    assert len(table.rows) == len(table.stems) * (1 + table.header.size // 2)
    assert len(table.neighbours) == len(table.stems) * table.header.near * 2
    assert static_vectors.vector_version() == "static-3"


@pytest.mark.parametrize(
    ("one", "other", "stranger"),
    [
        ("doctor", "physician", "invoice"),
        ("colour", "hue", "lawyer"),
        ("wage", "salary", "harbour"),
        ("parcel", "delivery", "weather"),
        ("thief", "robber", "kubernetes"),
    ],
)
def test_words_that_mean_much_the_same_are_near_each_other(one: str, other: str, stranger: str) -> None:
    near, far = (cosine(vector_of(one), vector_of(each)) for each in (other, stranger))
    assert near > 0.3
    assert near > far + 0.2
    assert cosine(wording_of(one), wording_of(other)) < 0.2


def test_the_nearest_words_come_with_how_near_they_are() -> None:
    found = word_table.word_table().nearest(stem("doctor"))
    assert next(iter(found)) == stem("physician")
    assert list(found.values()) == sorted(found.values(), reverse=True)
    assert found[stem("physician")] == pytest.approx(0.7)
    assert stem("doctor") not in found
    assert word_table.word_table().nearest("zzyzx") == {}


def test_a_word_stands_for_its_neighbours_by_how_near_they_are_and_for_its_group_at_least_that_much() -> None:
    near = word_table.word_table().nearest("wag")
    assert 0.35 < near["salary"] == synonyms("wag")["salary"] < 0.75
    assert synonyms("databas")["postgr"] == RELATED


def test_frequent_words_say_less() -> None:
    def length(word: str) -> float:
        return sum(each * each for each in word_table.word_table().direction(stem(word)))

    assert length("year") < 0.7 * length("harbour")


DAMAGED = {
    "missing": None,
    "empty": b"",
    "cut short": word_table.FILE.read_bytes()[:-100],
    "a byte changed": word_table.FILE.read_bytes()[:-1] + bytes([word_table.FILE.read_bytes()[-1] ^ 1]),
    "something else": b'{"kind": "x", "about": "", "words": 0, "size": 0, "near": 0, "step": 0, "checksum": 0}\n',
    "not ours": b"\x7fELF" * 1000,
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_without_a_whole_table_memories_are_kept_and_found_by_their_words(
    damage: str, install: Install, tmp_path: Path
) -> None:
    table = install(DAMAGED[damage])
    assert table.problem.startswith("the word table")
    assert (table.stems, static_vectors.vector_version()) == ((), "static-3 without table")
    database = SqliteDatabase(tmp_path / "m.db")
    text = "The landlord is told by letter when rent is overdue"
    draft = Draft(content=text, project="p", signal=0.9)
    kept = database.run(lambda tx: remember(tx, draft, shortlist_of(database)))
    found = database.run(lambda tx: recall(tx, Question(text="landlord letters", project="p"), shortlist_of(database)))
    assert (kept.status, [each.memory.content for each in found]) == ("stored", [text])
    database.close()


def test_doctor_says_when_the_table_is_damaged(install: Install, tmp_path: Path) -> None:
    installation = Installation(Places(tmp_path / "config", tmp_path / "state", tmp_path / "run"), {}, tmp_path)
    assert [check.status for check in memory_checks(installation)] == ["ok"]
    install(b"")
    (check,) = memory_checks(installation)
    assert (check.status, check.advice) == (
        "warn",
        "until then memories are found only by exact words; install Snell again",
    )
    assert "is damaged: its first line is wrong" in check.detail


def test_when_the_table_is_back_vectors_made_without_it_are_made_anew(install: Install, tmp_path: Path) -> None:
    whole = word_table.FILE.read_bytes()
    install(None)
    database = SqliteDatabase(tmp_path / "m.db")
    text = "The landlord is told by letter when rent is overdue"
    draft = Draft(content=text, project="p", signal=0.9)
    database.run(lambda tx: remember(tx, draft, shortlist_of(database)))
    assert database.run(re_embed) == 0
    install(whole)
    assert (database.run(re_embed), database.run(re_embed)) == (1, 0)
    rows = database.run(lambda tx: tx.rows("SELECT vector, vector_make FROM memories"))
    assert rows == [(vector_of(text), "static-3")]
    database.close()


def test_what_means_much_the_same_is_still_two_memories(tmp_path: Path) -> None:
    database = SqliteDatabase(tmp_path / "m.db")
    texts = (
        "We use PostgreSQL for billing",
        "We use MySQL for billing",
        "Ana drinks tea in the morning before work",
        "Ana drinks coffee in the morning before work",
        "Doctors may see the whole chart of a patient",
        "Physicians may see the whole chart of a patient",
    )
    for text in texts:
        draft = Draft(content=text, project="p", signal=0.9)
        kept = database.run(lambda tx, draft=draft: remember(tx, draft, shortlist_of(database)))
        assert kept.status == "stored"
    again = Draft(content="Well, we use PostgreSQL for billing!", project="p", signal=0.9)
    assert database.run(lambda tx: remember(tx, again, shortlist_of(database))).status == "rejected_similar"
    database.close()
