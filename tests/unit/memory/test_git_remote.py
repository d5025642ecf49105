"""A project is known by its remote, however that is written."""

import subprocess
from pathlib import Path

import pytest

from snell.memory.project_identity import origin_in, project_of, project_of_remote


@pytest.mark.proves("S4-121")
@pytest.mark.parametrize(
    ("url", "project"),
    [
        ("https://github.com/Acme/Shop.git", "github.com/acme/shop"),
        ("https://user:secret@github.com/acme/shop/", "github.com/acme/shop"),
        ("git@github.com:acme/shop.git", "github.com/acme/shop"),
        ("ssh://git@github.com:22/acme/shop", "github.com/acme/shop"),
        ("ssh://git@host:2222/acme/shop.git", "host:2222/acme/shop"),
        ("git://host//acme///shop.git", "host/acme/shop"),
        ("host:~/shop.git", "host/shop"),
        ("/srv/git/shop.git", ""),
        ("../shop", ""),
        ("C:/code/shop", ""),
        ("", ""),
        ("file:///srv/git/shop.git", ""),
    ],
)
def test_the_ways_to_write_a_remote_are_one_project(url: str, project: str) -> None:
    assert project_of_remote(url) == project


@pytest.mark.proves("S4-121")
def test_origin_counts_before_other_remotes() -> None:
    config = (
        '[core]\n\tbare = false\n[remote "fork"]\n\turl = f\n[remote "origin"]\n\turl = o\n[branch "x"]\n\turl = n\n'
    )
    assert origin_in(config) == "o"
    assert origin_in('[remote "fork"]\n\turl = f\n') == "f"
    assert origin_in("\0garbage") == ""


@pytest.mark.proves("S4-96", "S4-121")
def test_a_folder_a_sub_folder_and_a_worktree_are_one_project(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    (root / "deep" / "er").mkdir(parents=True)

    def git(*words: str) -> None:
        subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x@x", *words], cwd=root, check=True, timeout=30)

    git("init", "-q")
    git("commit", "-q", "--allow-empty", "-m", "x")
    git("worktree", "add", "-q", str(tmp_path / "tree"))
    assert {project_of(str(each)) for each in (root, root / "deep" / "er", tmp_path / "tree")} == {str(root)}
    git("remote", "add", "origin", "git@host:acme/shop.git")
    assert {project_of(str(each)) for each in (root, root / "deep" / "er", tmp_path / "tree")} == {"host/acme/shop"}


@pytest.mark.parametrize("folder", ["", "relative", "/nowhere\0x"])
def test_a_folder_that_is_none_belongs_to_no_project(folder: str) -> None:
    assert project_of(folder) == ""


def test_without_a_repository_the_folder_is_the_project(tmp_path: Path) -> None:
    assert project_of(str(tmp_path)) == str(tmp_path)
