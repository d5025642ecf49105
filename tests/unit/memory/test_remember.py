"""What is kept, and what is not: exact and similar texts, texts that tell too little, and input that is wrong."""

import pytest

from snell.memory import rows
from snell.memory.recall import Question, recall
from snell.memory.remember import MAYBE, SIMILAR, remember
from snell.memory.shortlist import shortlist_of
from snell.memory.types import Draft, NotRememberedError, StoreResult
from snell.memory.validation import quality
from snell.model.protocols import Database

GOOD = "We decided to use PostgreSQL for billing because SQLite locks under load, see `src/store.py`"

LATER = (
    "invoices, refunds, reports, exports and yearly statements of every customer move together with the accounts, then"
    " printers, warehouses, couriers and shops get their own queues, dashboards, alerts and nightly summaries, and the"
    " telephone, mail and chat channels receive shared calendars, holiday rules, language packs and training videos"
)


def kept(database: Database, content: str, *, similar: float = SIMILAR, is_gated: bool = True, **fields) -> StoreResult:
    draft = Draft(content=content, **{"project": "a", "signal": 0.8, **fields})
    return database.run(
        lambda tx: remember(tx, draft, shortlist_of(database), similar=similar, is_gated=is_gated, now=1_000)
    )


@pytest.mark.proves("S4-79", "S4-80")
def test_a_text_is_stored_once_whatever_its_case_and_outer_space(database) -> None:
    first = kept(database, GOOD, tags=("DB", "db"), importance=0.9, metadata={"n": 1})
    assert first == StoreResult(status="stored", id=first.id, quality=0.69, importance=0.9)
    assert kept(database, f"  {GOOD.upper()}\n") == StoreResult(status="rejected_exact", id=first.id, similarity=1.0)
    stored = database.run(lambda tx: rows.get(tx, first.id))
    assert (stored.content, stored.tags, stored.importance, stored.metadata) == (GOOD, ("db",), 0.9, {"n": 1})
    assert (stored.project, stored.namespace, stored.created_at, stored.accesses) == ("a", "default", 1_000, 0)


def test_the_same_text_in_another_project_is_another_memory(database) -> None:
    assert kept(database, GOOD).status == "stored"
    assert kept(database, GOOD, project="b").status == "stored"


def test_an_idempotency_key_counts_once_even_for_another_text(database) -> None:
    first = kept(database, GOOD, idempotency_key="k1")
    again = kept(
        database, "The fix was to raise the limit in `nginx.conf` because uploads failed", idempotency_key="k1"
    )
    assert again == StoreResult(status="rejected_exact", id=first.id, similarity=1.0)
    database.run(lambda tx: rows.forget(tx, [first.id]))
    assert kept(database, GOOD, idempotency_key="k1").status == "stored"


@pytest.mark.proves("S4-80", "S4-81")
def test_what_is_nearly_the_same_is_not_stored_again(database) -> None:
    first = kept(database, GOOD)
    again = kept(database, GOOD.replace("We decided", "So we decided") + "!")
    assert (again.status, again.id, again.similarity >= 0.85) == ("rejected_similar", first.id, True)
    near = kept(database, GOOD, similar=2.0)  # an exact one is found whatever the threshold
    assert near.status == "rejected_exact"


@pytest.mark.proves("S4-80", "S4-81")
def test_between_the_two_thresholds_it_is_a_possible_duplicate(database) -> None:
    assert (SIMILAR, MAYBE) == (0.85, 0.80)
    first = kept(database, GOOD)
    near, far = f"{GOOD} tomorrow", f"{GOOD}; {LATER}"
    similarity = kept(database, near, similar=1.0).similarity
    assert similarity > MAYBE
    assert kept(database, near, similar=similarity) == StoreResult(
        status="rejected_similar", id=first.id, similarity=similarity
    )
    assert kept(database, near, similar=similarity + 0.0001) == StoreResult(
        status="potential_duplicate", id=first.id, similarity=similarity
    )
    stored = kept(database, far)
    assert (stored.status, 0.6 < stored.similarity < MAYBE) == ("stored", True)
    assert kept(database, near, similar=1.0, is_gated=False).status == "stored"


def test_a_possible_duplicate_is_not_stored(database) -> None:
    kept(database, GOOD)
    again = kept(database, f"{GOOD} tomorrow", similar=1.0)
    assert again.status == "potential_duplicate"
    assert database.run(rows.stats).memories == 1


@pytest.mark.proves("S4-80", "S4-81")
def test_what_tells_too_little_is_refused_and_what_tells_little_counts_for_less(database) -> None:
    assert kept(database, "ok then", signal=0.0) == StoreResult(status="rejected_quality", quality=0.0)
    poor = kept(database, "the user likes tabs more than spaces here", importance=0.9)
    assert poor == StoreResult(status="stored", id=poor.id, quality=0.34, importance=0.34)
    assert kept(database, "hm", signal=0.0, is_gated=False).status == "stored"
    signals = {"q": 0.33, "x": 0.34, "z": 0.99, "j": 1.0}
    found = [kept(database, letter * 100, signal=signal, importance=0.9) for letter, signal in signals.items()]
    assert [(each.status, each.quality, each.importance) for each in found] == [
        ("rejected_quality", 0.299, 0.0),
        ("stored", 0.302, 0.302),
        ("stored", 0.497, 0.497),
        ("stored", 0.5, 0.9),
    ]


@pytest.mark.proves("S4-82")
@pytest.mark.parametrize(
    ("draft", "expected"),
    [
        (Draft(content="x" * 19), 0.0),
        (Draft(content="x" * 20), 0.1),
        (Draft(content="x" * 100), 0.2),
        (Draft(content="x" * 500), 0.2),
        (Draft(content="x" * 501), 0.16),
        (Draft(content="x" * 2_001), 0.14),
        (Draft(content="x" * 19, signal=1.0), 0.3),
        (Draft(content="short", tags=("a",)), 0.06),
        (Draft(content="so because"), 0.06),
        (Draft(content="a FooBar"), 0.08),
        (Draft(content="call it() now"), 0.075),
        (Draft(content="in v1.2.3"), 0.075),
        (Draft(content="see https://x/"), 0.075),
    ],
)
def test_quality_is_the_sum_of_its_published_parts(draft: Draft, expected: float) -> None:
    assert quality(draft) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"content": " \n\x00 "}, "there is nothing to remember: the text is empty"),
        ({"content": "x" * 100_001}, "the text has 100,001 characters, and 100,000 is the most; split it"),
        ({"namespace": "a/b"}, "`a/b` is not a name for a namespace"),
        ({"namespace": "x" * 64}, "is not a name for a namespace"),
        ({"importance": 1.5}, "the importance is `1.5`, not a number from 0 to 1"),
        ({"importance": float("nan")}, "the importance is `nan`"),
        ({"metadata": {"a": "x" * 70_000}}, "the metadata has 70,008 bytes"),
        ({"metadata": {"a": object()}}, "the metadata is not JSON"),
        ({"tags": tuple(map(str, range(51)))}, "there are 51 tags"),
        ({"project": "a\x00b"}, "the project's name is too long or contains control characters"),
    ],
)
def test_what_cannot_be_stored_is_said_clearly(database, fields: dict, problem: str) -> None:
    with pytest.raises(NotRememberedError) as error:
        kept(database, **{"content": GOOD, **fields})
    assert problem in str(error.value)


def test_a_text_of_100_kb_with_control_characters_is_stored_without_them(database) -> None:
    text = ("word " * 20_000)[:99_999]
    result = kept(database, text[:50_000] + "\x07\x1b" + text[50_000:], is_gated=False)
    assert database.run(lambda tx: rows.get(tx, result.id)).content == text.strip()


_CORRECTED = [
    (
        "Billing runs on PostgreSQL 15 because of its partitions",
        "Billing runs on PostgreSQL 16 because of its partitions",
    ),
    (
        "The dev server listens on port 8080 because 80 is taken",
        "The dev server listens on port 9090 because 80 is taken",
    ),
    ("Do not use the legacy importer for invoices, it is slow", "Do use the legacy importer for invoices, it is slow"),
    (
        "Feature flags are enabled in staging by default for all",
        "Feature flags are disabled in staging by default for all",
    ),
    (
        "We install packages with uv instead of pip in this project",
        "We install packages with pip instead of uv in this project",
    ),
    (
        "Run the linter before the tests in the release pipeline",
        "Run the tests before the linter in the release pipeline",
    ),
    ("The retry limit of the mail worker is three attempts", "The retry limit of the mail worker is five attempts"),
    (
        "The config of the gateway lives in `etc/gate.toml` now",
        "The config of the gateway lives in `etc/gate.yaml` now",
    ),
    (
        "Indent all Makefile recipes of this project with tabs",
        "Indent all Makefile recipes of this project with spaces",
    ),
    (
        "The upload limit of the media service is 30MB per file",
        "The upload limit of the media service is 30GB per file",
    ),
    ("Never squash commits when a release branch is merged", "Always squash commits when a release branch is merged"),
    ("Pin numpy<2 in the analytics image for the notebooks", "Pin numpy>2 in the analytics image for the notebooks"),
]


@pytest.mark.parametrize(("old", "new"), _CORRECTED)
def test_a_correction_is_a_new_memory(database, old: str, new: str) -> None:
    assert [kept(database, each, signal=0.95).status for each in (old, new)] == ["stored", "stored"]


_REWORDED = [
    (
        "Billing runs on PostgreSQL 15 because of its partitions",
        "Because of its partitions, billing runs on PostgreSQL 15!",
    ),
    (
        "Don't use the legacy importer for invoices, it is slow",
        "Do not use the legacy importer for invoices, as it is slow",
    ),
    (
        "We decided to use PostgreSQL for billing because SQLite locks",
        "We chose PostgreSQL for billing because SQLite locks",
    ),
    ("The retry limit of the mail worker is three attempts", "The retry limit of the mail worker is 3 attempts"),
    (
        "The dev server listens on port 8080 because 80 is taken",
        "Note: the dev server is listening on port 8080, since 80 is taken",
    ),
    (
        "Run `make lint` before the tests in the release pipeline",
        "Run make lint before the tests in the release pipeline.",
    ),
]


@pytest.mark.parametrize(("old", "new"), _REWORDED)
def test_the_same_in_other_words_is_not_stored_again(database, old: str, new: str) -> None:
    assert kept(database, old, signal=0.95).is_stored
    assert kept(database, new, signal=0.95).status in ("rejected_similar", "potential_duplicate")


_ABOUT_ANOTHER_THING = [
    ("Error code 4102 means that the tax service is down.", "Error code 4201 means that the tax service is down."),
    (
        "The list of users is paged by the handler in v1/users.py",
        "The list of users is paged by the handler in v2/users.py",
    ),
    ("On 404 the sync client drops the file and goes on", "On 503 the sync client drops the file and goes on"),
    ("When the answer is 404 the sync client drops the file", "When the answer is 503 the sync client drops the file"),
    (
        "The output of step 3 is checked by the release manager",
        "The output of step 4 is checked by the release manager",
    ),
    ("The owner of the queue orders_eu1 is the billing team", "The owner of the queue orders_eu2 is the billing team"),
]
_SAID_ANEW = [
    ("The retry limit of the mail worker is three attempts", "The retry limit of the mail worker is five attempts"),
    (
        "The dev server listens on port 8080 because 80 is taken",
        "The dev server listens on port 9090 because 80 is taken",
    ),
    ("Error code 4102 means that the tax service is down.", "Error code 4201 now means that the tax service is down."),
    (
        "The config of the gateway lives in `etc/gate.toml` now",
        "The config of the gateway lives in `etc/gate.yaml` now",
    ),
]


@pytest.mark.parametrize(
    ("old", "new", "is_one"),
    [*((*each, False) for each in _ABOUT_ANOTHER_THING), *((*each, True) for each in _SAID_ANEW)],
)
def test_a_text_with_another_number_corrects_only_what_is_about_the_same_thing(database, old, new, is_one) -> None:
    first = kept(database, old, signal=0.95)
    second = kept(database, new, signal=0.95)
    assert (second.status, second.supersedes) == ("stored", first.id if is_one else "")


def test_what_is_corrected_steps_back_until_it_is_said_again(database) -> None:
    old, new = _CORRECTED[0]
    first = kept(database, old, importance=0.8, signal=0.95)
    second = kept(database, new, importance=0.8, signal=0.95)
    assert second.supersedes == first.id

    def best() -> list[str]:
        question = Question(text="which PostgreSQL does billing run on", project="a")
        found = database.run(lambda tx: recall(tx, question, shortlist_of(database)))
        return [each.memory.id for each in found]

    def weight() -> float:
        return database.run(lambda tx: rows.get(tx, first.id)).importance

    assert (best(), weight()) == ([second.id, first.id], first.importance / 2)
    again = Draft(content=old, project="a", at=2_000)
    assert database.run(lambda tx: remember(tx, again, shortlist_of(database))).status == "rejected_exact"
    assert (best(), weight()) == ([first.id, second.id], first.importance)
    early = Draft(content=new, project="a", at=1_500)  # an old capture that comes late changes nothing
    database.run(lambda tx: remember(tx, early, shortlist_of(database)))
    assert best() == [first.id, second.id]
