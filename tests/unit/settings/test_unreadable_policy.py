"""A policy that cannot be read must not look like one that approved."""

import pytest

from snell.engine.registry import Registry
from snell.handlers.command import Command
from snell.model.catalogue import CATALOGUE, NEVER_BLOCKED_BY_FAILURE
from snell.model.hooks import Broken, Scope
from snell.store.in_memory import InMemoryStore
from tests.helpers import call
from tests.unit.settings.settings_files import World, command, write_file

DENIABLE = [name for name, row in CATALOGUE.items() if "deny" in row.can and name not in NEVER_BLOCKED_BY_FAILURE]


def broken(loaded) -> dict[str, str]:
    return {hook.event: hook.handler.reason for hook in loaded.hooks if isinstance(hook.handler, Broken)}


def test_a_policy_that_cannot_be_parsed_blocks_every_event_that_can_be_denied(tmp_path):
    world = World(tmp_path)
    write_file(world.policy, "[[hooks\n")
    loaded = world.load()
    assert list(broken(loaded)) == DENIABLE
    assert {hook.scope for hook in loaded.hooks} == {Scope.POLICY}
    assert {hook.failure_policy for hook in loaded.hooks} == {"block"}
    assert [each.line for each in loaded.problems] == [1]
    assert set(broken(loaded).values()) == {str(loaded.problems[0])}


@pytest.mark.parametrize(
    "text",
    [
        b"\xff",
        b"hooks = 3",
        b"[[hook]]\nevent = 'Stop'",
        b"allow_managed_hooks_only = 'yes'",
        b"[[hooks]]\ncommand = 'x'",
        b"[[hooks]]\nevent = 'PreToolUs'\ncommand = 'x'",
        b"#" * 5_000_000,
    ],
    ids=["bytes", "hooks", "other table", "switch", "no event", "wrong event", "huge"],
)
def test_what_could_be_about_any_event_blocks_them_all(tmp_path, text):
    world = World(tmp_path)
    write_file(world.policy, text)
    assert list(broken(world.load())) == DENIABLE


def test_a_folder_in_the_place_of_the_policy_blocks(tmp_path):
    world = World(tmp_path)
    world.policy.mkdir(parents=True)
    assert list(broken(world.load())) == DENIABLE


def test_no_policy_is_no_problem_but_a_link_to_nowhere_blocks(tmp_path):
    world = World(tmp_path)
    assert (world.load().hooks, world.load().problems) == ((), ())
    world.policy.parent.mkdir()
    world.policy.symlink_to(tmp_path / "nowhere")
    assert list(broken(world.load())) == DENIABLE


def test_an_entry_that_cannot_be_read_blocks_on_its_own_event_and_the_rest_of_the_policy_works(tmp_path):
    world = World(tmp_path)
    text = command("good") + '[[hooks]]\nevent = "PreToolUse"\nmatcher = "Write"\ncommand = "x"\ntimeout = -1\n'
    write_file(world.policy, text)
    hooks = world.load().hooks
    assert [(hook.event, hook.matcher, type(hook.handler)) for hook in hooks] == [
        ("PreToolUse", None, Command),
        ("PreToolUse", "Write", Broken),
    ]
    picked = Registry(hooks).pick(call("x", tool="Write"), InMemoryStore()).hooks
    assert len(picked) == 2


@pytest.mark.parametrize("matcher", ['"Bash("', "3", '{ pattern = "x", typ = "exact" }'])
def test_a_matcher_that_cannot_be_read_makes_its_entry_block_everything_on_its_event(tmp_path, matcher):
    world = World(tmp_path)
    write_file(world.policy, f'[[hooks]]\nevent = "PreToolUse"\nmatcher = {matcher}\ncommand = "x"\n')
    hooks = world.load().hooks
    assert [(hook.event, hook.matcher, hook.role, type(hook.handler)) for hook in hooks] == [
        ("PreToolUse", None, "judges", Broken)
    ]


def test_what_the_entry_says_of_failures_still_holds(tmp_path):
    world = World(tmp_path)
    wrong = 'event = "PreToolUse"\ncommand = "x"\ntimeout = -1\n'
    more = ("enabled = false", 'on_failure = "ask"', 'role = "watches"')
    write_file(world.policy, "".join(f"[[hooks]]\n{wrong}{each}\n" for each in more))
    assert [hook.failure_policy for hook in world.load().hooks] == ["ask", "allow"]


def test_a_policy_that_the_environment_names_must_be_there(tmp_path):
    world = World(tmp_path)
    loaded = world.load(SNELL_POLICY=str(tmp_path / "nowhere.toml"))
    assert list(broken(loaded)) == DENIABLE
    assert "the file does not exist" in str(loaded.problems[0])


def test_a_policy_that_the_environment_names_is_added_and_never_replaces_the_machines_own(tmp_path):
    world = World(tmp_path)
    write_file(world.policy, command("machine"))
    added = write_file(tmp_path / "added.toml", f"disable_all_hooks = true\n{command('added')}")
    loaded = world.load(SNELL_POLICY=str(added))
    assert [hook.id for hook in loaded.hooks] == ["machine", "added"]
    assert {hook.scope for hook in loaded.hooks} == {Scope.POLICY}
    assert (loaded.switches.policy_disables_all, loaded.switches.disable_all_hooks) == (False, True)


def test_where_the_added_policy_is_the_only_one_its_switch_means_everything(tmp_path):
    world = World(tmp_path)
    added = write_file(tmp_path / "added.toml", "disable_all_hooks = true\n")
    assert world.load(SNELL_POLICY=str(added)).switches.policy_disables_all


def test_a_broken_file_of_the_user_blocks_nothing(tmp_path):
    world = World(tmp_path)
    world.user("[[hooks\n")
    loaded = world.load()
    assert loaded.hooks == ()
    assert [each.severity for each in loaded.problems] == ["error"]
