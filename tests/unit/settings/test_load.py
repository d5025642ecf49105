"""Everything that counts for one working directory."""

import errno
import os
import sys
import time

import pytest

from snell.engine.registry import Registry
from snell.handlers.command import Command
from snell.model.hooks import Scope, Source, Switches
from snell.runtime.context import is_stale
from snell.settings.parse_types import Value
from snell.store.in_memory import InMemoryStore
from snell.system.files import read_capped
from tests.helpers import call
from tests.unit.settings.settings_files import World, command, ids, messages_of, write_file
from tests.unit.settings.test_plugins import plugin

ALL_SCOPES = ["policy", "plugin", "user", "project", "local"]


def full(folder) -> World:
    """A world with one hook from each kind of file."""
    world = World(folder)
    write_file(world.policy, command("policy"))
    plugin(folder / "tidy", '{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "plugin"}]}]}}')
    world.user(f'packs = ["{folder / "tidy"}"]\n{command("user")}')
    world.brings(command("project"))
    world.brings(command("local"), "snell.local.toml")
    world.trust()
    return world


def running(world: World) -> list[str]:
    """The layers whose hooks run on a tool call."""
    loaded = world.load()
    picked = Registry(loaded.hooks, switches=loaded.switches).pick(call("x"), InMemoryStore())
    return [hook.source.layer.partition(":")[0] for hook in picked.hooks]


@pytest.mark.proves("S1-103", "S1-104", "S1-105", "S1-110", "S1-139")
def test_hooks_come_in_execution_order_and_say_where_they_came_from(tmp_path):
    world = full(tmp_path)
    assert [(hook.scope, hook.source.layer) for hook in world.load().hooks] == [
        (Scope.POLICY, "policy"),
        (Scope.PLUGIN, "plugin:tidy"),
        (Scope.SESSION, "user"),
        (Scope.SESSION, "project"),
        (Scope.SESSION, "local"),
    ]
    assert [hook.source for hook in world.load().hooks][2:] == [
        Source("user", str(world.places.config / "snell.toml"), 2),
        Source("project", str(world.project / ".snell/snell.toml"), 1),
        Source("local", str(world.project / ".snell/snell.local.toml"), 1),
    ]


@pytest.mark.proves("S1-103", "S1-107", "S1-108", "S1-111")
@pytest.mark.parametrize(
    ("file", "switch", "expected"),
    [
        ("user", "", ALL_SCOPES),
        ("user", "disable_all_hooks = true", ["policy"]),
        ("local", "disable_all_hooks = true", ["policy"]),
        ("policy", "disable_all_hooks = true", []),
        ("policy", "allow_managed_hooks_only = true", ["policy"]),
        ("user", "allow_managed_hooks_only = true", ["policy"]),
        ("local", "allow_managed_hooks_only = true", ALL_SCOPES),
        ("project", "allowManagedHooksOnly = true", ALL_SCOPES),
    ],
)
def test_which_hooks_run_under_a_switch_depends_on_their_scope_and_on_who_set_it(tmp_path, file, switch, expected):
    world = full(tmp_path)
    path = {
        "policy": world.policy,
        "user": world.places.config / "snell.toml",
        "project": world.project / ".snell/snell.toml",
        "local": world.project / ".snell/snell.local.toml",
    }[file]
    path.write_text(f"{switch}\n{path.read_text(encoding='utf-8')}", encoding="utf-8")
    world.trust()
    assert running(world) == expected


@pytest.mark.proves("S1-108")
def test_a_nearer_file_takes_disable_all_hooks_back(tmp_path):
    world = full(tmp_path)
    world.user(f"disable_all_hooks = true\n{command('user')}")
    world.brings(f"disable_all_hooks = false\n{command('local')}", "snell.local.toml")
    world.trust()
    assert running(world) == ["policy", "user", "project", "local"]


@pytest.mark.proves("S1-116")
def test_the_users_hooks_are_read_from_snell_toml_and_from_hooks_toml(tmp_path):
    world = World(tmp_path)
    world.user(command("one"))
    world.user(command("two"), "hooks.toml")
    world.user('{"hooks": {"Stop": [{"command": "three", "name": "three"}]}}', "snell.json")
    assert ids(world.load()) == ["one", "three", "two"]
    assert {hook.source.layer for hook in world.load().hooks} == {"user"}


def test_without_any_file_there_is_nothing_and_nothing_is_wrong(tmp_path):
    loaded = World(tmp_path).load()
    assert (loaded.hooks, loaded.problems, loaded.switches, loaded.python) == ((), (), Switches(), ())
    assert {value.layer for value in loaded.values} == {"default"}


def test_every_value_says_where_it_comes_from(tmp_path):
    world = World(tmp_path)
    path = world.user('\nrewrites_from = "policy"\nstatus_line = "x"\n')
    found = {value.name: value for value in world.load().values}
    assert found["rewrites_from"] == Value("rewrites_from", "policy", "user", str(path), 2)
    assert found["status_line"] == Value("status_line", {"command": "x"}, "user", str(path), 3)
    assert found["packs"] == Value("packs", (), "default", "", 0)
    assert world.load().value("rewrites_from") == "policy"


@pytest.mark.proves("S1-133")
def test_rewriting_can_be_kept_to_policy_hooks(tmp_path):
    world = World(tmp_path)
    world.user('rewritesFrom = "policy"\n')
    assert world.load().switches.rewrites_from == "policy"


def test_two_hooks_never_share_a_name_and_the_policys_stays_its_own(tmp_path):
    world = World(tmp_path)
    write_file(world.policy, command("guard"))
    world.user(command("guard") + command("guard") + command("guard#2"))
    assert ids(world.load()) == ["guard", "guard#2", "guard#3", "guard#2#2"]


def test_events_that_the_user_announces_may_be_named_in_projects(tmp_path):
    world = World(tmp_path)
    world.user('extra_events = ["AfterLunch"]\n')
    world.brings(command("theirs", "AfterLunch"))
    world.trust()
    assert ids(world.load()) == ["theirs"]


def test_a_users_own_claude_code_hooks_are_read_only_on_request(tmp_path):
    world = World(tmp_path)
    text = '{"model": "m", "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]}}'
    path = write_file(world.home / ".claude" / "settings.json", text)
    world.user(command("mine"))
    assert ids(world.load()) == ["mine"]
    world.user(f"import_claude = true\n{command('mine')}")
    imported = world.load().hooks[1]
    assert (imported.handler, imported.source) == (Command("x"), Source("claude-code:user", str(path), 1))
    write_file(path, text.replace('"model"', '"disableAllHooks": true, "model"'))
    loaded = world.load()
    assert [hook.enabled for hook in loaded.hooks] == [True, False]
    assert loaded.switches == Switches()


def test_a_project_cannot_ask_for_the_users_own_hooks(tmp_path):
    world = World(tmp_path)
    write_file(world.home / ".claude" / "settings.json", '{"hooks": {"Stop": [{"command": "x"}]}}')
    world.brings(f"import_claude = true\n{command('theirs')}")
    world.trust()
    loaded = world.load()
    assert ids(loaded) == ["theirs"]
    assert "`import_claude` has no effect in project settings" in messages_of(loaded.problems)[0]


@pytest.mark.proves("S1-119")
def test_a_file_that_cannot_be_read_is_reported_and_the_others_count(tmp_path):
    world = World(tmp_path)
    (world.places.config / "snell.toml").mkdir()
    world.user(b"\xff\xfe", "hooks.toml")
    world.user('{"hooks": {"Stop": [{"command": "x"}]}}', "snell.json")
    loaded = world.load()
    assert len(loaded.hooks) == 1
    if sys.platform == "linux":
        (world.places.config / "snell.json").unlink()
        (world.places.config / "snell.json").symlink_to("/proc/self/mem")
        said = [
            each for each in messages_of(world.load().problems) if "snell.json:1: the file cannot be read: " in each
        ]
        assert len(said) == 1
    assert messages_of(loaded.problems) == [
        f"{world.places.config}/snell.toml:1: the file is a directory, not a file; name a regular file",
        f"{world.places.config}/hooks.toml:1: the file is not valid UTF-8; save it as UTF-8",
    ]


@pytest.mark.parametrize("code", [errno.EACCES, errno.EIO])
@pytest.mark.proves("S1-119")
def test_a_file_that_may_not_be_read_is_reported_with_its_path(tmp_path, monkeypatch, code):
    def refuse(path, cap, **options):
        if path.name == "snell.toml":
            raise OSError(code, os.strerror(code), str(path))
        return read_capped(path, cap, **options)

    world = World(tmp_path)
    world.user(command("x"))
    monkeypatch.setattr("snell.settings.parse.read_capped", refuse)
    loaded = world.load()
    said = f"{world.places.config}/snell.toml:1: the file cannot be read: {os.strerror(code)}; check its permissions"
    assert (loaded.hooks, messages_of(loaded.problems)) == ((), [said])


@pytest.mark.parametrize("mistake", ['[[hooks]]\nname = "gu', b"\xff\xfe", "[[hooks"])
def test_what_a_users_file_said_counts_until_a_mistake_in_it_is_mended(tmp_path, mistake):
    world = World(tmp_path)
    kept = {"readable": {}}
    world.user(command("guard", on_failure='"block"'))
    before = world.load(kept=kept)
    world.user(mistake)
    broken = world.load(kept=kept)
    assert broken.hooks == before.hooks
    assert [
        each.endswith("; correct it; its last readable content is used until then")
        for each in messages_of(broken.problems)
    ] == [True]
    world.user(command("other"))
    assert ids(world.load(kept=kept)) == ["other"]
    (world.places.config / "snell.toml").unlink()
    assert world.load(kept=kept).hooks == ()


def test_a_file_that_was_just_emptied_is_about_to_be_written(tmp_path):
    world = World(tmp_path)
    kept = {"readable": {}}
    world.user(command("guard", on_failure='"block"'))
    before = world.load(kept=kept)
    world.user("")
    between = world.load(kept=kept)
    assert between.hooks == before.hooks
    assert is_stale(between)
    long_ago = time.time() - 10
    os.utime(world.places.config / "snell.toml", (long_ago, long_ago))
    assert world.load(kept=kept).hooks == ()


def test_a_users_file_that_could_never_be_read_blocks_where_it_shows_a_guard_that_was_to_block(tmp_path):
    world = World(tmp_path)
    world.user(command("guard", on_failure='"block"') + "[[hooks")
    (blocks, *_) = [hook for hook in world.load().hooks if hook.event == "PreToolUse"]
    assert (blocks.failure_policy, blocks.source.layer) == ("block", "user")
    world.user(command("guard") + '# on_failure = "block"\n[[hooks')
    assert world.load().hooks == ()


def test_a_named_pipe_in_the_place_of_a_file_holds_no_caller_up(tmp_path):
    world = World(tmp_path)
    os.mkfifo(world.places.config / "snell.toml")
    assert "is a named pipe" in str(world.load().problems[0])


def changed_by(world: World, change) -> bool:
    """Whether a change makes what was loaded before stale."""
    loaded = settled(world)
    assert not is_stale(loaded)
    change()
    return is_stale(loaded)


def settled(world: World):
    """Load again until nothing was written just before; files written in the last moment never count as settled."""
    for _ in range(100_000):
        loaded = world.load()
        if all(file.is_settled for file in loaded.files):
            return loaded
    raise AssertionError("the files never settle")


def test_what_was_loaded_goes_stale_with_every_change_that_could_matter(tmp_path):
    world = full(tmp_path)
    script = world.script("check.sh")
    world.brings('[[hooks]]\nevent = "Stop"\ncommand = "sh check.sh"\n')
    world.brings("", "hooks/mine.py")
    world.trust()
    deeper = world.project / "deeper"
    deeper.mkdir()
    assert changed_by(world, lambda: world.user(""))
    assert changed_by(world, lambda: world.user("", "hooks.toml"))
    assert changed_by(world, lambda: write_file(world.policy, ""))
    assert changed_by(world, lambda: world.brings(command("other")))
    assert changed_by(world, lambda: script.write_text("other", encoding="utf-8"))  # approved once, so still watched
    world.brings('[[hooks]]\nevent = "Stop"\ncommand = "sh check.sh"\n')
    assert changed_by(world, lambda: script.write_text("another", encoding="utf-8"))
    assert changed_by(world, lambda: world.brings("x", "hooks/mine.py"))
    assert changed_by(world, lambda: world.brings("", "hooks/new.py"))
    assert changed_by(world, lambda: world.trust())
    assert changed_by(world, lambda: (world.places.config / "hooks.toml").unlink())
    assert not changed_by(world, lambda: None)


def test_a_project_that_appears_later_makes_what_was_loaded_stale(tmp_path):
    world = World(tmp_path)
    deep = world.project / "a" / "b"
    deep.mkdir(parents=True)
    loaded = world.load(deep)
    assert loaded.project_root == ""
    write_file(world.project / "a" / ".snell" / "snell.toml", "")
    assert is_stale(loaded)
    assert world.load(deep).project_root == str(world.project / "a")


def test_a_file_written_twice_in_one_moment_is_not_missed(tmp_path):
    world = World(tmp_path)
    for number in range(50):
        world.user(f"# {number % 10}\n")
        loaded = world.load()
        world.user(f"# {(number + 1) % 10}\n")
        assert is_stale(loaded)
