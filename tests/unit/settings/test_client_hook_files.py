"""Hook files of other clients, read as ours."""

import json
from pathlib import Path

import pytest

from snell.clients import client_named
from snell.handlers.command import Command
from snell.runtime.context import is_stale
from snell.settings.client_hook_files import CLIENT_FORMATS
from tests.unit.settings.settings_files import World, command, inert, messages_of, write_file

SHIM = {"type": "command", "command": "/x/snell-hook", "args": ["--client", "claude-code"]}


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def group(command: str, **more: object) -> dict[str, object]:
    return {**more, "hooks": [{"type": "command", "command": command}]}


@pytest.mark.parametrize(
    ("client", "file", "content", "expected"),
    [
        ("claude-code", ".claude/settings.json", {"PreToolUse": [group("a")]}, ("PreToolUse", "a", 600.0)),
        ("codex", ".codex/hooks.json", {"Stop": [group("a")]}, ("Stop", "a", 600.0)),
        ("cursor", ".cursor/hooks.json", {"preToolUse": [{"command": "a", "timeout": 9}]}, ("PreToolUse", "a", 9.0)),
        (
            "cursor",
            ".cursor/hooks.json",
            {"beforeSubmitPrompt": [{"command": "a", "failClosed": True}]},
            ("UserPromptSubmit", "a", 60.0),
        ),
        (
            "gemini",
            ".gemini/settings.json",
            {"BeforeTool": [{"hooks": [{"type": "command", "command": "a", "timeout": 9000}]}]},
            ("PreToolUse", "a", 9.0),
        ),
        (
            "copilot",
            ".copilot/hooks/mine.json",
            {"agentStop": [{"type": "command", "bash": "a", "timeoutSec": 9}]},
            ("Stop", "a", 9.0),
        ),
    ],
)
def test_a_clients_own_hooks_run_elsewhere_once_the_user_says_so(
    world: World, client: str, file: str, content: dict[str, object], expected: tuple[str, str, float]
) -> None:
    write_file(world.home / file, json.dumps({"version": 1, "hooks": content}))
    assert world.load().hooks == ()
    world.user(f'import_hooks = ["{client}"]\n')
    loaded = world.load()
    (hook,) = loaded.hooks
    assert isinstance(hook.handler, Command)
    assert (hook.event, hook.handler.command, hook.time_limit) == expected
    assert (hook.source.layer, [text for text in messages_of(loaded.problems) if "error" in text]) == (
        f"{client}:user",
        [],
    )


@pytest.mark.parametrize(
    ("client", "file", "event", "matcher", "expected"),
    [
        ("gemini", ".gemini/settings.json", "BeforeTool", "run_shell_command", "run_shell_command|Bash"),
        ("gemini", ".gemini/settings.json", "BeforeTool", "write_file|replace", "write_file|Write|replace|Edit"),
        ("gemini", ".gemini/settings.json", "BeforeTool", "^replace$", "^(?:replace|Edit)$"),
        ("gemini", ".gemini/settings.json", "BeforeTool", "replace_all", "replace_all"),
        ("cursor", ".cursor/hooks.json", "preToolUse", "Shell", "Shell|Bash"),
        ("copilot", ".copilot/hooks/mine.json", "preToolUse", "bash|view", "bash|Bash|view|Read"),
        ("claude-code", ".claude/settings.json", "PreToolUse", "Bash|Edit", "Bash|Edit"),
    ],
)
def test_a_matcher_by_the_clients_names_of_tools_matches_in_every_client(
    world: World, client: str, file: str, event: str, matcher: str, expected: str
) -> None:
    asks = {"matcher": matcher, "hooks": [{"type": "http", "url": "https://example.com/"}]}
    write_file(world.home / file, json.dumps({"hooks": {event: [asks]}}))
    world.user(f'import_hooks = ["{client}"]\n')
    assert [hook.matcher for hook in world.load().hooks] == [expected]


@pytest.mark.parametrize("name", [name for name in CLIENT_FORMATS if CLIENT_FORMATS[name].tools])
def test_the_names_of_tools_are_those_that_the_table_of_the_client_has(name: str) -> None:
    tools = client_named(name).table.tools
    assert {theirs: tools[theirs].name for theirs in CLIENT_FORMATS[name].tools} == CLIENT_FORMATS[name].tools


def test_how_that_client_calls_us_is_not_a_hook(world: World) -> None:
    mixed = {"matcher": "Bash", "hooks": [{"type": "command", "command": "mine"}, SHIM]}
    ours = {"hooks": [SHIM]}
    write_file(
        world.home / ".claude/settings.json", json.dumps({"hooks": {"PreToolUse": [mixed, ours], "Stop": [ours]}})
    )
    world.user('import_hooks = ["claude-code"]\n')
    assert [(hook.event, hook.handler.command) for hook in world.load().hooks] == [("PreToolUse", "mine")]  # type: ignore[union-attr] # all are commands


def test_a_projects_imported_hooks_need_trust_byte_by_byte(world: World) -> None:
    world.brings("")
    write_file(world.project / ".claude/settings.json", json.dumps({"hooks": {"Stop": [group("echo hello")]}}))
    assert world.review().items == ()
    world.user('import_hooks = ["claude-code"]\n')
    assert world.load().hooks == ()
    assert [item.event for item in world.review().items] == ["Stop"]
    world.trust()
    loaded = world.load()
    assert [(hook.event, hook.source.layer) for hook in loaded.hooks] == [("Stop", "claude-code:project")]
    assert inert(loaded) == {}
    write_file(world.project / ".claude/settings.json", json.dumps({"hooks": {"Stop": [group("echo other")]}}))
    assert is_stale(loaded)
    assert list(inert(world.load()).values()) != []


def test_a_project_cannot_switch_importing_on(world: World) -> None:
    world.brings(f'import_hooks = ["claude-code"]\n{command("theirs")}')
    world.trust()
    assert any(
        "`import_hooks` has no effect in project settings" in text for text in messages_of(world.load().problems)
    )


def test_a_client_whose_files_cannot_be_read_is_a_mistake_with_a_hint(world: World) -> None:
    world.user('import_hooks = ["cursr"]\n')
    assert any("did you mean `cursor`?" in text for text in messages_of(world.load().problems))


def imported(world: World, client: str, hooks: dict[str, object], file: str = "") -> list[tuple[object, ...]]:
    """What a user's file becomes: event, kinds, and in whose words."""
    files = {"cursor": ".cursor/hooks.json", "gemini": ".gemini/settings.json", "codex": ".codex/hooks.json"}
    write_file(world.home / (file or files.get(client, ".copilot/hooks/mine.json")), json.dumps({"hooks": hooks}))
    world.user(f'import_hooks = ["{client}"]\n')
    found = []
    for hook in world.load().hooks:
        assert isinstance(hook.handler, Command)
        found.append((hook.event, hook.kinds, hook.handler.written_for, hook.handler.their_matcher))
    return sorted(found, key=str)


@pytest.mark.parametrize(
    ("native", "expected"),
    [
        ("beforeShellExecution", [("PreToolUse", ("shell",))]),
        ("beforeMCPExecution", [("PreToolUse", ("mcp",))]),
        ("beforeReadFile", [("PreToolUse", ("read",))]),
        ("afterFileEdit", [("PostToolUse", ("edit", "write"))]),
        ("afterMCPExecution", [("PostToolUse", ("mcp",))]),
        ("afterShellExecution", [("PostToolUse", ("shell",)), ("PostToolUseFailure", ("shell",))]),
        ("beforeSubmitPrompt", [("UserPromptSubmit", ())]),
        ("subagentStart", [("PreToolUse", ("agent",))]),
        ("afterAgentResponse", [("Stop", ())]),
        ("stop", [("Stop", ())]),
    ],
)
def test_an_event_about_one_kind_of_tool_is_ours_for_that_kind(
    world: World, native: str, expected: list[tuple[str, tuple[str, ...]]]
) -> None:
    found = imported(world, "cursor", {native: [{"command": "a", "matcher": "x"}]})
    assert found == [(event, kinds, f"cursor:{native}", "x") for event, kinds in expected]


def test_two_of_its_events_that_are_one_here_both_keep_their_hooks(world: World) -> None:
    found = imported(world, "cursor", {"preToolUse": [{"command": "a"}], "beforeShellExecution": [{"command": "b"}]})
    assert [each[2] for each in found] == ["cursor:beforeShellExecution", "cursor:preToolUse"]


def test_the_matcher_of_a_group_goes_with_each_of_its_commands(world: World) -> None:
    found = imported(world, "gemini", {"BeforeTool": [group("a", matcher="^replace$")]})
    assert found == [("PreToolUse", (), "gemini:BeforeTool", "^replace$")]


@pytest.mark.parametrize(
    ("client", "native"), [("cursor", "afterAgentThought"), ("gemini", "BeforeModel"), ("copilot", "preMcpToolCall")]
)
def test_an_event_that_nothing_is_like_is_named_and_left_out(world: World, client: str, native: str) -> None:
    assert imported(world, client, {native: [{"type": "command", "command": "a"}]}) == []
    assert any(f"other clients have no event like `{native}`" in text for text in messages_of(world.load().problems))


def test_a_hook_that_closes_when_it_fails_does_so_everywhere(world: World) -> None:
    imported(world, "cursor", {"beforeShellExecution": [{"command": "a", "failClosed": True}, {"command": "b"}]})
    assert [hook.failure_policy for hook in world.load().hooks] == ["block", "allow"]


def test_an_entry_keeps_its_folder_and_its_variables(world: World) -> None:
    entry = {"type": "command", "bash": "./check.sh", "cwd": "scripts dir", "env": {"MODE": "it's"}}
    imported(world, "copilot", {"preToolUse": [entry]})
    (hook,) = world.load().hooks
    assert isinstance(hook.handler, Command)
    assert hook.handler.command == """export MODE='it'"'"'s'; cd -- 'scripts dir' && ./check.sh"""


def test_hooks_in_the_toml_of_codex_count_and_its_list_of_reviewed_ones_is_no_hook(world: World) -> None:
    text = """model = "gpt"
[[hooks.PreToolUse]]
matcher = "apply_patch"
[[hooks.PreToolUse.hooks]]
type = "command"
command = "a"
[hooks.state."/x/hooks.json:pre_tool_use:0:0"]
trusted_hash = "sha256:00"
"""
    write_file(world.home / ".codex/config.toml", text)
    world.user('import_hooks = ["codex"]\n')
    loaded = world.load()
    assert [(hook.event, hook.handler.their_matcher) for hook in loaded.hooks] == [("PreToolUse", "apply_patch")]  # type: ignore[union-attr] # a command
    assert messages_of(loaded.problems) == []


@pytest.mark.parametrize("written_for", ["cursor:beforeDinner", "emacs:stop", "cursor", "claude-code:Stop"])
def test_a_command_that_is_written_for_no_clients_event_is_a_mistake(world: World, written_for: str) -> None:
    world.user(f'[[hooks]]\nevent = "Stop"\ncommand = "a"\nwritten_for = "{written_for}"\n')
    assert any(
        f"`{written_for}` is not an event of another client" in text for text in messages_of(world.load().problems)
    )


LOOSE = """// mine
{
  "theme": "http://example.com/", /* not
  a hook */
  "hooks": {
    "BeforeTool": [ // one
      {"hooks": [{"type": "command", "command": "echo '// no comment, }'",},],},
    ],
  },
}
"""


def test_comments_and_last_commas_stand_where_that_client_takes_them(world: World) -> None:
    write_file(world.home / ".gemini/settings.json", LOOSE)
    world.user('import_hooks = ["gemini"]\n')
    loaded = world.load()
    (hook,) = loaded.hooks
    assert isinstance(hook.handler, Command)
    assert (hook.handler.command, hook.source.line, messages_of(loaded.problems)) == ("echo '// no comment, }'", 7, [])


@pytest.mark.parametrize(
    "opening", ["/* " * 90_000, ",/* " * 90_000, '"\\' * 90_000, "," * 40_000, "{" + "/**/," * 20_000]
)
def test_a_file_that_is_all_beginnings_of_comments_is_read_in_no_time(world: World, opening: str) -> None:
    write_file(world.home / ".gemini/settings.json", opening)
    world.user('import_hooks = ["gemini"]\n')
    assert world.load().hooks == ()


@pytest.mark.parametrize(
    ("config", "enabled"),
    [({}, True), ({"enabled": False}, False), ({"disabled": ["guard"]}, False), ({"disabled": ["other"]}, True)],
)
@pytest.mark.parametrize("place", ["hooksConfig", "hooks"])
def test_what_gemini_has_switched_off_is_off_here(
    world: World, config: dict[str, object], enabled: bool, place: str
) -> None:
    hooks = {"BeforeTool": [{"hooks": [{"type": "command", "name": "guard", "command": "a"}]}]}
    content = {"hooks": {**hooks, **config}} if place == "hooks" else {"hooks": hooks, place: config}
    write_file(world.home / ".gemini/settings.json", json.dumps(content))
    world.user('import_hooks = ["gemini"]\n')
    loaded = world.load()
    assert [hook.enabled for hook in loaded.hooks] == [enabled]
    assert [text for text in messages_of(loaded.problems) if "error" in text] == []
