"""A project's memories stay with its repository, whatever happens to its remote; and with no other project."""

import shutil
import subprocess
from pathlib import Path

import pytest

from snell.memory import rows
from snell.memory.project_identity import checkout_of, project_of
from snell.memory.project_renames import follow_rename
from snell.memory.remember import remember
from snell.memory.shortlist import shortlist_of
from snell.memory.types import Draft
from snell.model.protocols import Database
from snell.store.sqlite import SqliteDatabase

TEXT = "We decided to use uv for packages, since pip was slow"
OLD, NEW = "https://example.com/team/old.git", "git@example.com:team/new.git"


def git(folder: Path, *arguments: str) -> None:
    folder.mkdir(exist_ok=True)
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True)


def cloned(folder: Path, remote: str = OLD) -> Path:
    git(folder, "init", "-q")
    git(folder, "remote", "add", "origin", remote)
    return folder


@pytest.fixture
def database(tmp_path: Path):
    made = SqliteDatabase(tmp_path / "state" / "m.db")
    yield made
    made.close()


def keep(database: Database, folder: Path, text: str = TEXT) -> None:
    known(database, folder)
    draft = Draft(content=text, project=project_of(str(folder)))
    assert database.run(lambda tx: remember(tx, draft, shortlist_of(database), is_gated=False)).is_stored


def known(database: Database, folder: Path) -> list[str]:
    database.run(lambda tx: follow_rename(tx, str(folder)))
    found = database.run(lambda tx: rows.list_memories(tx, project=project_of(str(folder))))
    return sorted(memory.content for memory in found)


@pytest.mark.proves("S4-121")
def test_a_remote_that_is_renamed_removed_and_added_again_hides_nothing(database, tmp_path: Path) -> None:
    folder = cloned(tmp_path / "one")
    keep(database, folder)
    git(folder, "remote", "set-url", "origin", NEW)
    assert (project_of(str(folder)), known(database, folder)) == ("example.com/team/new", [TEXT])
    git(folder, "remote", "rename", "origin", "upstream")
    assert (project_of(str(folder)), known(database, folder)) == ("example.com/team/new", [TEXT])
    git(folder, "remote", "remove", "upstream")
    assert (project_of(str(folder)), known(database, folder)) == (str(folder), [TEXT])
    keep(database, folder, "The login cookie is called sid_v2")
    git(folder, "remote", "add", "origin", OLD)
    assert (project_of(str(folder)), len(known(database, folder))) == ("example.com/team/old", 2)
    assert database.run(rows.stats).memories == 2


def test_a_folder_that_moves_takes_its_memories_along(database, tmp_path: Path) -> None:
    folder = tmp_path / "one"
    git(folder, "init", "-q")
    keep(database, folder)
    assert known(database, folder.rename(tmp_path / "two")) == [TEXT]


def test_another_repository_at_the_same_place_knows_nothing(database, tmp_path: Path) -> None:
    keep(database, cloned(tmp_path / "one"))
    (tmp_path / "one").rename(tmp_path / "gone")
    assert known(database, cloned(tmp_path / "one", NEW)) == []


def test_pointing_at_another_project_for_a_moment_mixes_nothing(database, tmp_path: Path) -> None:
    ours, theirs = cloned(tmp_path / "ours"), cloned(tmp_path / "theirs", NEW)
    keep(database, ours)
    keep(database, theirs, "Their database is MySQL 8")
    git(ours, "remote", "set-url", "origin", NEW)
    assert known(database, ours) == ["Their database is MySQL 8"]
    git(ours, "remote", "set-url", "origin", OLD)
    assert (known(database, ours), known(database, theirs)) == ([TEXT], ["Their database is MySQL 8"])


@pytest.mark.parametrize("is_local", [False, True], ids=["another remote", "no remote"])
def test_a_project_without_memories_takes_none_along_from_another_one(database, tmp_path: Path, is_local: bool) -> None:
    ours, theirs = tmp_path / "ours", cloned(tmp_path / "theirs", NEW)
    git(cloned(ours), "remote", "remove", "origin") if is_local else cloned(ours)
    keep(database, theirs, "Their database is MySQL 8")
    shutil.rmtree(theirs)  # their memories are all that is left on this machine
    assert known(database, ours) == []
    git(ours, "remote", *(("add",) if is_local else ("set-url",)), "origin", NEW)
    assert known(database, ours) == ["Their database is MySQL 8"]
    git(ours, "remote", *(("remove", "origin") if is_local else ("set-url", "origin", OLD)))
    assert known(database, ours) == []
    assert known(database, cloned(theirs, NEW)) == ["Their database is MySQL 8"]


def test_two_clones_keep_what_they_know_when_one_is_renamed_first(database, tmp_path: Path) -> None:
    first, second = cloned(tmp_path / "first"), cloned(tmp_path / "second")
    keep(database, first)
    assert known(database, second) == [TEXT]
    git(first, "remote", "set-url", "origin", NEW)
    assert (known(database, first), known(database, second)) == ([TEXT], [TEXT])
    keep(database, second, "The login cookie is called sid_v2")
    git(second, "remote", "set-url", "origin", NEW)
    assert len(known(database, second)) == 2
    assert known(database, first) == known(database, second)


def test_what_is_no_repository_has_no_lineage(database, tmp_path: Path) -> None:
    assert checkout_of("").repository == checkout_of(str(tmp_path)).repository == ""
    assert known(database, tmp_path) == []
