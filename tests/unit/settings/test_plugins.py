"""Plugins and packs that settings name."""

from pathlib import Path

import pytest

from snell.handlers.command import Command
from snell.model.hooks import Scope, Source
from snell.settings.parse_types import PackSource
from snell.settings.trust import approve
from tests.unit.settings.settings_files import World, command, ids, inert, messages_of, write_file

HANDLER = '{"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/x.sh"}'
FLAT = f'{{"Stop": [{HANDLER}]}}'
HOOKS = f'{{"description": "d", "hooks": {{"Stop": [{{"hooks": [{HANDLER}]}}]}}}}'


def plugin(folder: Path, hooks: str = HOOKS, manifest: str = "") -> Path:
    """A Claude Code plugin on disk."""
    if hooks:
        write_file(folder / "hooks" / "hooks.json", hooks)
    if manifest:
        write_file(folder / ".claude-plugin" / "plugin.json", manifest)
    return folder


def with_pack(world: World, folder: Path | str) -> None:
    world.user(f'packs = ["{folder}"]\n')


@pytest.mark.proves("S1-104")
@pytest.mark.parametrize(
    ("hooks", "manifest", "file", "name"),
    [
        (HOOKS, "", "hooks/hooks.json", "tidy"),
        (HOOKS, '{"name": "other"}', "hooks/hooks.json", "other"),
        ("", f'{{"name": "other", "hooks": {HOOKS}}}', ".claude-plugin/plugin.json", "other"),
        ("", f'{{"name": "other", "hooks": {FLAT}}}', ".claude-plugin/plugin.json", "other"),
    ],
)  # fmt: skip
def test_a_plugins_hooks_are_read_from_its_own_files(tmp_path, hooks, manifest, file, name):
    world = World(tmp_path)
    folder = plugin(tmp_path.resolve() / "tidy", hooks, manifest)
    with_pack(world, folder)
    loaded = world.load()
    assert messages_of(loaded.problems) == []
    assert [(hook.scope, hook.handler, hook.source) for hook in loaded.hooks] == [
        (
            Scope.PLUGIN,
            Command("${CLAUDE_PLUGIN_ROOT}/x.sh", plugin_root=str(folder)),
            Source(f"plugin:{name}", str(folder / file), 1),
        )
    ]


@pytest.mark.proves("S1-104")
def test_a_manifest_may_name_further_files_but_none_outside_the_plugin(tmp_path):
    world = World(tmp_path)
    write_file(tmp_path / "outside.json", HOOKS)
    manifest = '{"name": "p", "hooks": ["./more.json", "../outside.json", "/etc/passwd", 3]}'
    folder = plugin(tmp_path / "tidy", "", manifest)
    write_file(folder / "more.json", HOOKS)
    with_pack(world, folder)
    assert [Path(hook.source.file).name for hook in world.load().hooks] == ["more.json"]


def test_a_change_in_any_file_of_a_plugin_makes_what_was_loaded_stale(tmp_path):
    world = World(tmp_path)
    folder = plugin(world.project / "tidy", "", '{"hooks": "more.json"}')
    more = write_file(folder / "more.json", FLAT)
    world.brings('packs = ["../tidy"]\n')
    world.trust()
    for path in (more, folder / ".claude-plugin" / "plugin.json", folder / "hooks" / "hooks.json"):
        assert str(path) in {file.path for file in world.load().files}


def test_a_relative_folder_is_meant_from_the_settings_file(tmp_path):
    world = World(tmp_path)
    plugin(world.places.config / "mine" / "tidy")
    with_pack(world, "mine/tidy")
    assert len(world.load().hooks) == 1


def test_a_pack_is_only_listed(tmp_path):
    world = World(tmp_path)
    write_file(tmp_path / "pack" / "pack.toml", "this is not read here [")
    with_pack(world, tmp_path / "pack")
    loaded = world.load()
    assert (loaded.packs, loaded.problems) == ((PackSource(str(tmp_path / "pack"), "user"),), ())


def test_a_folder_that_is_neither_is_reported(tmp_path):
    world = World(tmp_path)
    with_pack(world, "/nowhere")
    (problem,) = world.load().problems
    assert (problem.file, problem.line) == (str(world.places.config / "snell.toml"), 1)
    assert problem.message == "`/nowhere` is neither a pack nor a plugin"
    assert problem.advice == "it needs a pack.toml or hooks/hooks.json"


@pytest.mark.parametrize("text", ["{", "[]", '{"hooks": 3}', '{"hooks": {"Nope": [{"command": "x"}]}}'])
def test_what_is_wrong_in_a_plugin_is_reported_with_its_file(tmp_path, text):
    world = World(tmp_path)
    with_pack(world, plugin(tmp_path / "tidy", text))
    loaded = world.load()
    assert loaded.hooks == ()
    assert all(str(tmp_path / "tidy") in each.file for each in loaded.problems)
    assert len(loaded.problems) == (0 if text == "[]" else 1)


def test_a_plugins_switches_switch_nothing(tmp_path):
    world = World(tmp_path)
    with_pack(world, plugin(tmp_path / "tidy", '{"disableAllHooks": true, "hooks": {}}'))
    assert not world.load().switches.disable_all_hooks


def test_plugins_of_a_project_are_pinned_like_its_own_hooks(tmp_path):
    world = World(tmp_path)
    folder = plugin(world.project / "tools" / "tidy")
    write_file(folder / "x.sh", "#!/bin/sh\n")
    world.brings(f'packs = ["../tools/tidy"]\n{command("theirs")}')
    world.trust()
    assert (len(ids(world.load())), inert(world.load())) == (2, {})
    write_file(folder / "x.sh", "#!/bin/sh\nevil\n")
    (why,) = inert(world.load()).values()
    assert why == "`tools/tidy/x.sh` changed since it was approved; run `snell trust`"


def test_a_projects_plugins_are_not_opened_unless_its_settings_are_approved(tmp_path):
    world = World(tmp_path)
    plugin(world.project / "tidy", "{ broken")
    world.brings(f'packs = ["../tidy"]\n{command("theirs")}')
    hook = world.review().items[0]
    approve(world.places, world.project, [hook.digest], world.env)
    loaded = world.load()
    assert ids(loaded) == ["theirs"]
    assert [each.message.partition(":")[0] for each in loaded.problems] == ["`packs` has no effect"]


def test_a_project_cannot_name_a_pack_of_python_hooks(tmp_path):
    world = World(tmp_path)
    write_file(world.project / "pack" / "pack.toml", "")
    world.brings('packs = ["../pack"]\n')
    world.trust()
    loaded = world.load()
    assert loaded.packs == ()
    assert "has Python hooks, which a project may keep in .snell/hooks only" in str(loaded.problems[0])
