import pytest

from snell.memory import rows
from snell.memory.consolidation import MergedGroup, consolidate
from snell.memory.remember import remember
from snell.memory.shortlist import shortlist_of
from snell.memory.types import Draft
from snell.store.sqlite import SqliteDatabase

TEXTS = {
    "old": "The orders database is PostgreSQL because SQLite locked under load",
    "new": "The orders database is PostgreSQL now, because SQLite locked under high load",
    "other": "Buttons of the frontend are 44 px high",
}


@pytest.fixture
def database(tmp_path):
    database = SqliteDatabase(tmp_path / "m.db")
    yield database
    database.close()


@pytest.fixture
def ids(database):
    """Two that say the same, of which the older one is more important, and another one."""

    def keep(tx):
        kept = {}
        for at, (name, text) in enumerate(TEXTS.items(), start=1):
            draft = Draft(content=text, project="p", importance=0.9 if name == "old" else 0.5, tags=(name,), at=at)
            kept[name] = remember(tx, draft, shortlist_of(database), similar=2, is_gated=False).id
        return kept

    return database.run(keep)


def joined(database, strategy="keep_highest_importance", **how):
    return database.run(
        lambda tx: consolidate(
            tx, shortlist_of(database), project="p", namespace="default", strategy=strategy, **{"dry_run": False, **how}
        )
    )


def left(database):
    return {memory.content: memory for memory in database.run(lambda tx: rows.list_memories(tx, project="p"))}


@pytest.mark.proves("S4-120")
@pytest.mark.parametrize(
    ("strategy", "kept", "gone"),
    [("keep_newest", "new", "old"), ("keep_oldest", "old", "new"), ("keep_highest_importance", "old", "new")],
)
def test_of_memories_that_say_the_same_one_stays(database, ids, strategy, kept, gone):
    (group,) = joined(database, strategy)
    assert group == MergedGroup(kept=ids[kept], gone=(ids[gone],), similarity=group.similarity)
    assert set(left(database)) == {TEXTS[kept], TEXTS["other"]}


def test_merged_memories_keep_every_word_tag_and_the_highest_importance(database, ids):
    (group,) = joined(database, "merge_content")
    merged = left(database)[f"{TEXTS['old']}\n\n{TEXTS['new']}"]
    assert (merged.id, set(merged.tags), merged.importance) == (group.kept, {"old", "new"}, 0.9)
    assert set(group.gone) == {ids["old"], ids["new"]}


def test_a_dry_run_tells_and_changes_nothing(database, ids):
    before = left(database)
    assert [group.gone for group in joined(database, dry_run=True)] == [(ids["new"],)]
    assert left(database) == before


@pytest.mark.usefixtures("ids")
def test_a_high_bar_and_a_limit_of_groups_leave_memories_alone(database):
    assert joined(database, similarity_threshold=0.99) == joined(database, max_groups=0) == []
    assert set(left(database)) == set(TEXTS.values())
