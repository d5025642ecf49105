"""Which files count, by name alone."""

import os
from pathlib import Path

import pytest

from snell.settings.locate import locate
from tests.unit.settings.settings_files import World, write_file


def located(world: World, cwd: Path, **env: str):
    return locate(world.places, cwd, {**world.env, **env}, (world.policy,))


def root_from(world: World, cwd: Path) -> str:
    project = located(world, cwd).project
    return os.path.relpath(project.root, world.project.parent) if project else ""


def test_the_nearest_folder_with_a_dot_snell_is_the_project(tmp_path):
    world = World(tmp_path)
    inner = world.project / "a" / "b" / "c"
    inner.mkdir(parents=True)
    assert root_from(world, inner) == ""
    (world.project / ".snell").mkdir()
    assert root_from(world, inner) == "project"
    assert root_from(world, world.project) == "project"
    (world.project / "a" / ".snell").mkdir()
    assert root_from(world, inner) == "project/a"
    write_file(world.project / "a" / "b" / ".snell", "a file, no folder")
    assert root_from(world, inner) == "project/a"


def test_neither_the_home_directory_nor_what_is_above_it_is_a_project(tmp_path):
    world = World(tmp_path)
    (world.home / ".snell").mkdir()
    (world.home.parent / ".snell").mkdir()
    inner = world.home / "x" / "y"
    inner.mkdir(parents=True)
    assert root_from(world, inner) == ""
    assert root_from(world, world.home) == ""


@pytest.mark.parametrize("cwd", ["", ".", "relative/path", "/nowhere/at/all", "/\0"])
def test_a_working_directory_that_means_nothing_has_no_project(tmp_path, cwd):
    world = World(tmp_path)
    assert located(world, Path(cwd)).project is None


def test_a_project_reached_through_a_link_is_the_real_one(tmp_path):
    world = World(tmp_path)
    (world.project / ".snell").mkdir()
    (tmp_path / "link").symlink_to(world.project)
    direct, linked = located(world, world.project).project, located(world, tmp_path / "link").project
    assert direct == linked
    assert located(world, tmp_path / "link" / ".." / "link" / ".").project == direct


def test_a_policy_named_by_a_relative_path_is_not_looked_for_in_the_working_directory(tmp_path):
    found = located(World(tmp_path), tmp_path, SNELL_POLICY="policy.toml").policy
    assert [str(file.path) for file in found[1:]] == ["/policy.toml"]


def test_files_are_named_in_execution_order_and_never_opened(tmp_path):
    world = World(tmp_path)
    for name in ("b.py", "a.py", "_private.py", ".hidden.py", "notes.md"):
        write_file(world.project / ".snell" / "hooks" / name, "raise SystemExit")
    found = located(world, world.project, SNELL_POLICY="/etc/more.toml", CLAUDE_CONFIG_DIR="/c")
    assert [(str(file.path), file.layer) for file in found.policy] == [
        (str(world.policy), "policy"),
        ("/etc/more.toml", "policy"),
    ]
    assert [file.path.name for file in found.user] == ["snell.toml", "snell.json", "hooks.toml"]
    assert [(file.layer, file.path.name) for file in found.imported] == [
        ("claude-code:user", "settings.json"),
        ("codex:user", "hooks.json"),
        ("codex:user", "config.toml"),
        ("copilot:user", "settings.json"),
        ("cursor:user", "hooks.json"),
        ("gemini:user", "settings.json"),
    ]
    assert str(found.imported[0].path) == "/c/settings.json"
    assert found.project is not None
    assert [(file.path.name, file.layer) for file in found.project.settings] == [
        ("snell.toml", "project"),
        ("snell.json", "project"),
        ("snell.local.toml", "local"),
        ("snell.local.json", "local"),
    ]
    assert [path.name for path in found.project.python] == ["a.py", "b.py"]
