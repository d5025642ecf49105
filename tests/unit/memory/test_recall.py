"""Finding again: by words, by meaning, within a project, whatever is asked."""

import pytest

from snell.llm.embeddings.static_vectors import cosine, vector_of
from snell.memory import rows
from snell.memory.recall import Question, nearby, recall
from snell.memory.remember import add_dense, remember, without_dense
from snell.memory.shortlist import shortlist_of
from snell.memory.types import Draft, NotRememberedError
from snell.model.protocols import Database

TEXTS = {
    "db": "We decided to use PostgreSQL for billing because SQLite locks under load",
    "login": "The login page keeps its token in a cookie named `sid_v2`",
    "flaky": "test_queue_drain needs QUEUE_WAIT=5 in the environment",
    "deploy": "Deploys go out on Tuesday after the smoke suite on staging is green",
}


def fill(database: Database, project: str = "a", namespace: str = "default") -> dict[str, str]:
    def keep(tx, text: str) -> str:
        draft = Draft(content=text, project=project, namespace=namespace)
        return remember(tx, draft, shortlist_of(database), similar=2.0, is_gated=False).id

    return {name: database.run(lambda tx, text=text: keep(tx, text)) for name, text in TEXTS.items()}


def found(database: Database, text: str, **fields) -> list[str]:
    question = Question(text=text, **{"project": "a", **fields})
    answers = database.run(lambda tx: recall(tx, question, shortlist_of(database)))
    names = {content: name for name, content in TEXTS.items()}
    return [names.get(each.memory.content, "other") for each in answers]


@pytest.mark.parametrize(
    ("question", "best"),
    [
        ("which database did we choose", "db"),
        ("authentication", "login"),
        ("sid_v2", "login"),
        ("TEST_QUEUE_DRAIN", "flaky"),
        ("queue drain", "flaky"),
        ("when do we ship to production", "deploy"),
        ("deploying", "deploy"),
    ],
)
def test_a_question_finds_its_answer_first(database, question: str, best: str) -> None:
    fill(database)
    assert found(database, question)[0] == best


def test_words_alone_and_vectors_alone_find_an_identifier(database) -> None:
    fill(database)
    assert found(database, "QUEUE_WAIT", alpha=0.0) == ["flaky"]
    assert found(database, "QUEUE_WAIT", alpha=1.0)[0] == "flaky"


@pytest.mark.proves("S4-121")
def test_a_memory_of_one_project_is_never_found_in_another_unless_all_are_asked(database) -> None:
    fill(database, project="a")
    for alpha in (0.0, 0.5, 1.0):
        assert found(database, "sid_v2 cookie token", project="b", alpha=alpha) == []
    assert found(database, "sid_v2 cookie token", project="*")[0] == "login"


def test_a_namespace_keeps_to_itself_and_follows_its_new_name(database) -> None:
    fill(database, namespace="x")
    assert found(database, "sid_v2", namespace="y") == []
    assert found(database, "sid_v2", namespace="x")[0] == "login"
    database.run(lambda tx: rows.rename_namespace(tx, "x", "y"))
    assert found(database, "sid_v2", namespace="x") == []
    assert found(database, "sid_v2", namespace="y")[0] == "login"


def test_what_is_forgotten_is_not_found(database) -> None:
    ids = fill(database)
    assert found(database, "sid_v2")[0] == "login"
    assert database.run(lambda tx: rows.forget(tx, [ids["login"], "absent"])) == [ids["login"]]
    assert "login" not in found(database, "sid_v2 cookie")


FEW = (
    "We use uv, since pip was too slow for CI",
    "We use pnpm as the package manager because npm filled the disk",
    "The login page keeps its token in a cookie named `sid_v2`",
    "test_queue_drain needs QUEUE_WAIT=5 in the environment",
    "Deploys go out on Tuesday after the smoke suite on staging is green",
)


def scores(database: Database, text: str, texts: tuple[str, ...]) -> dict[str, float]:
    for each in texts:
        draft = Draft(content=each, project="few")
        database.run(lambda tx, draft=draft: remember(tx, draft, shortlist_of(database), similar=2.0, is_gated=False))
    answers = database.run(lambda tx: recall(tx, Question(text=text, project="few"), shortlist_of(database)))
    return {each.memory.content: each.similarity for each in answers}


@pytest.mark.parametrize("text", ["volcano eruption", "recipe for banana bread", "quantum physics"])
@pytest.mark.parametrize("number", [1, 2, len(FEW)])
def test_a_question_about_something_else_finds_nothing(database, text: str, number: int) -> None:
    assert scores(database, text, FEW[:number]) == {}


def test_also_among_few_memories_one_with_the_telling_words_scores_clearly_higher(database) -> None:
    assert scores(database, "which package manager", FEW[:1])[FEW[0]] > 0.1  # `pip` is one, in other words
    found = scores(database, "which package manager", FEW[1:])
    assert found.pop(FEW[1]) > 0.8
    assert max(found.values()) < 0.4


def test_by_vectors_alone_the_nearest_is_told_however_far_it_is(database) -> None:
    fill(database)
    assert found(database, "volcano eruption") == []
    assert len(found(database, "volcano eruption", alpha=1.0)) > 0


@pytest.mark.parametrize(
    "text", ["the and of it is", '"', "a OR b NOT (", "*", "💥", "x" * 50_000, "'; DROP TABLE", "\x00"]
)
def test_any_text_may_be_asked(database, text: str) -> None:
    fill(database)
    assert len(found(database, text)) <= 5


def test_an_empty_question_is_refused(database) -> None:
    with pytest.raises(NotRememberedError, match="the question is empty"):
        found(database, "  ")


def test_a_frequent_word_alone_brings_the_newest_and_does_not_hide_a_rare_one(database, monkeypatch) -> None:
    monkeypatch.setattr("snell.memory.recall.FREQUENT", 3)

    def many(tx) -> None:
        for number in range(6):
            draft = Draft(content=f"the server number {number} restarted", project="a")
            remember(tx, draft, shortlist_of(database), similar=2.0, is_gated=False)

    database.run(many)
    question = Question(text="server", project="a", alpha=0.0, limit=3)
    newest = database.run(lambda tx: recall(tx, question, shortlist_of(database)))
    assert len(newest) == 3
    fill(database)
    assert found(database, "server sid_v2")[0] == "login"


def test_nearby_are_the_most_alike_without_the_memory_itself(database) -> None:
    ids = fill(database)

    def keep(tx) -> str:
        draft = Draft(content="The sign-in form stores a token in the cookie `sid_v1`", project="a")
        return remember(tx, draft, shortlist_of(database), similar=2.0, is_gated=False).id

    other = database.run(keep)
    near = database.run(lambda tx: nearby(tx, other, shortlist_of(database), limit=2))
    assert [near[0].memory.id, len(near)] == [ids["login"], 2]
    with pytest.raises(NotRememberedError, match="there is no memory `absent`"):
        database.run(lambda tx: nearby(tx, "absent", shortlist_of(database)))


def test_vectors_of_a_model_find_what_shares_no_word(database) -> None:
    ids = fill(database)
    seen = database.run(lambda tx: without_dense(tx, "m"))
    assert {id_ for id_, _ in seen} == set(ids.values())
    vectors = [(id_, bytes([127, 0, 0, 0] if id_ == ids["deploy"] else [0, 127, 0, 0]) * 2) for id_, _ in seen]
    database.run(lambda tx: add_dense(tx, "m", vectors))
    assert database.run(lambda tx: without_dense(tx, "m")) == []
    question = Question(text="zzz", project="a", dense=bytes([127, 1, 0, 0] * 2), dense_model="m", alpha=0.5)
    lists = shortlist_of(database), shortlist_of(database, "dense_signature")
    assert database.run(lambda tx: recall(tx, question, *lists))[0].memory.id == ids["deploy"]


def test_signatures_are_compared_the_same_without_numpy(database, monkeypatch) -> None:
    fill(database)
    monkeypatch.setattr("snell.memory.shortlist.MANY", 1)
    question = Question(text="cookie of the login", project="a", alpha=1.0)
    with_numpy = database.run(lambda tx: recall(tx, question, shortlist_of(database)))
    monkeypatch.setattr("snell.memory.shortlist.numpy_with_bits", lambda: None)
    monkeypatch.setattr("snell.llm.embeddings.static_vectors.numpy_with_bits", lambda: None)
    assert database.run(lambda tx: recall(tx, question, shortlist_of(database))) == with_numpy


def test_words_of_one_group_are_near_and_strangers_are_not() -> None:
    near = cosine(vector_of("database"), vector_of("postgres"))
    far = cosine(vector_of("database"), vector_of("colour"))
    assert near > 0.2 > far
    assert cosine(vector_of(""), vector_of("x")) == 0.0
