"""Every form in which hooks can be written, from text to whole hooks."""

import pytest

from snell.handlers.agent import Agent
from snell.handlers.command import Command
from snell.handlers.mcp_tool import McpTool
from snell.handlers.prompt import Prompt
from snell.handlers.webhook import Webhook
from snell.model.catalogue import CATALOGUE
from snell.model.hooks import Hook, PythonFile, Source
from snell.settings.parse_types import Value
from tests.unit.settings.settings_files import hook_of, messages_of, parse_text

SEED_TOML = """\
disable_all_hooks = false
allow_managed_hooks_only = false

[[hooks]]
event = "PreToolUse"
tool_matcher = "Bash*"
timeout_sec = 60
name = "look-at-commands"

[hooks.shell]
command = "python3 ~/bin/look_at_commands.py"
pass_context = true
parse_result = true

[[hooks]]
event = "PostToolUse"
tool_matcher = "Edit"
name = "changed"

[hooks.webhook]
url = "https://hooks.example.org/edited"
method = "Post"
headers = { Authorization = "Bearer ${EDIT_TOKEN}" }

[[hooks]]
event = "SessionStart"
once = true
name = "log"

[hooks.shell]
command = "date >> ~/started.txt"
"""

CLIENT_JSON = """\
{
  "disableAllHooks": false,
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "Write|Edit",
        "hooks": [
          {"type": "command", "command": "lint", "args": ["--fix"], "timeout": 5, "statusMessage": "linting"},
          {"type": "http", "url": "http://127.0.0.1:9/x", "headers": {"A": "$B"}, "allowedEnvVars": ["B"],
           "onFailure": "continue"},
          {"type": "prompt", "prompt": "ok? $ARGUMENTS", "model": "small", "continueOnBlock": true},
          {"type": "agent", "prompt": "look", "timeout": 90},
          {"type": "mcp_tool", "server": "s", "tool": "t", "input": {"a": "${tool_name}"}}
        ]
      },
      {"matcher": "Bash", "command": "look.sh"}
    ],
    "UserPromptSubmit": [{"hooks": [{"type": "command", "command": "x", "async": true, "asyncTimeout": 2500}]}]
  }
}
"""


def hooks(found) -> list[dict]:
    return [as_dict(each.hook) for each in found.declared]


def as_dict(hook: Hook) -> dict:
    """A hook's fields that differ from the defaults; hooks themselves are compared by identity."""
    usual = Hook(id="", event="", handler=Command(""))
    return {name: getattr(hook, name) for name in hook.__struct_fields__ if getattr(hook, name) != getattr(usual, name)}


@pytest.mark.proves("S1-114", "S1-115", "S1-36")
def test_toml_entries_have_an_event_a_matcher_and_a_table_for_the_handler():
    found = parse_text(SEED_TOML, "hooks.toml")
    why = "header `Authorization` uses `EDIT_TOKEN`, which is not in `allowed_env`"
    assert messages_of(found.problems) == [f'hooks.toml:23: {why}; add `allowed_env = ["EDIT_TOKEN"]`']
    switches = ("disable_all_hooks", "allow_managed_hooks_only")
    assert found.values == tuple(Value(name, False, "user", "hooks.toml", n) for n, name in enumerate(switches, 1))
    assert hooks(found) == [
        {
            "id": "look-at-commands",
            "event": "PreToolUse",
            "handler": Command("python3 ~/bin/look_at_commands.py", pass_context=True, parse_result=True),
            "matcher": "Bash*",
            "timeout": 60.0,
            "source": Source("user", "hooks.toml", 4),
        },
        {
            "id": "changed",
            "event": "PostToolUse",
            "handler": Webhook(
                "https://hooks.example.org/edited",
                method="POST",
                headers={"Authorization": "Bearer ${EDIT_TOKEN}"},
            ),
            "matcher": "Edit",
            "timeout": 30.0,
            "source": Source("user", "hooks.toml", 15),
        },
        {
            "id": "log",
            "event": "SessionStart",
            "handler": Command("date >> ~/started.txt", pass_context=False, parse_result=False),
            "once": True,
            "source": Source("user", "hooks.toml", 25),
        },
    ]


@pytest.mark.proves("S1-113")
def test_json_lists_hooks_by_event_flat_or_in_the_clients_nested_form():
    found = parse_text(CLIENT_JSON, "settings.json")
    assert messages_of(found.problems) == []
    assert found.values == (Value("disable_all_hooks", False, "user", "settings.json", 2),)
    both = parse_text('{"disableAllHooks": true, "allowManagedHooksOnly": true}', "settings.json").values
    assert {each.name: each.value for each in both} == {"disable_all_hooks": True, "allow_managed_hooks_only": True}
    assert [{key: each[key] for key in each if key != "id"} for each in hooks(found)] == [
        {
            "event": "PreToolUse",
            "handler": Command("lint", ("--fix",)),
            "matcher": "Write|Edit",
            "timeout": 5.0,
            "status_message": "linting",
            "source": Source("user", "settings.json", 8),
        },
        {
            "event": "PreToolUse",
            "handler": Webhook("http://127.0.0.1:9/x", headers={"A": "$B"}, allowed_env=("B",)),
            "matcher": "Write|Edit",
            "timeout": 30.0,
            "on_failure": "allow",
            "source": Source("user", "settings.json", 9),
        },
        {
            "event": "PreToolUse",
            "handler": Prompt("ok? $ARGUMENTS", "small", True),
            "matcher": "Write|Edit",
            "timeout": 30.0,
            "source": Source("user", "settings.json", 11),
        },
        {
            "event": "PreToolUse",
            "handler": Agent("look"),
            "matcher": "Write|Edit",
            "timeout": 90.0,
            "source": Source("user", "settings.json", 12),
        },
        {
            "event": "PreToolUse",
            "handler": McpTool("s", "t", {"a": "${tool_name}"}),
            "matcher": "Write|Edit",
            "source": Source("user", "settings.json", 13),
        },
        {
            "event": "PreToolUse",
            "handler": Command("look.sh"),
            "matcher": "Bash",
            "source": Source("user", "settings.json", 16),
        },
        {
            "event": "UserPromptSubmit",
            "handler": Command("x"),
            "is_async": True,
            "async_timeout": 2.5,
            "timeout": 30.0,
            "source": Source("user", "settings.json", 18),
        },
    ]


def test_both_switches_and_a_flat_entry_are_read_from_a_policy_in_json():
    text = """{"hooks": {"PreToolUse": [{"matcher": "Bash", "command": "look.sh"}]},
        "disableAllHooks": false, "allowManagedHooksOnly": true}"""
    found = parse_text(text, "policy.json", layer="policy")
    assert [(value.name, value.value) for value in found.values] == [
        ("disable_all_hooks", False),
        ("allow_managed_hooks_only", True),
    ]
    assert [each.hook.handler for each in found.declared] == [Command("look.sh")]


@pytest.mark.parametrize(
    ("text", "file"),
    [
        ('[[hooks.PreToolUse]]\nmatcher = "Bash"\ncommand = "x"', "a.toml"),
        ('[[hooks]]\nevent = "PreToolUse"\nmatcher = "Bash"\nhooks = [{ type = "command", command = "x" }]', "a.toml"),
        ('[[hooks]]\nevent = "PreToolUse"\nmatcher = "Bash"\n[hooks.command]\ncommand = "x"', "a.toml"),
        ('[{"event": "PreToolUse", "matcher": "Bash", "command": "x"}]', "a.json"),
        ('{"hooks": [{"event": "PreToolUse", "matcher": "Bash", "type": "command", "command": "x"}]}', "a.json"),
        ('{"hooks": [{"event": "PreToolUse", "matcher": "Bash", "command": {"command": "x"}}]}', "a.json"),
        ('{"hooks": {"pre_tool_use": [{"toolMatcher": "Bash", "hooks": [{"command": "x"}]}]}}', "a.json"),
    ],
)  # fmt: skip
def test_other_mixtures_of_the_forms_mean_the_same(text, file):
    hook = hook_of(text, file)
    assert (hook.event, hook.matcher, hook.handler) == ("PreToolUse", "Bash", Command("x"))


def test_a_python_function_is_found_from_the_folder_of_the_settings_file():
    text = '[[hooks]]\nevent = "Stop"\n[hooks.python]\nfile = "hooks/mine.py"\nfunction = "check"'
    assert hook_of(text, folder="/home/me/.config/snell").handler == PythonFile(
        "/home/me/.config/snell/hooks/mine.py", "check"
    )


@pytest.mark.proves("S1-13")
@pytest.mark.parametrize("event", sorted(CATALOGUE))
def test_an_event_may_be_spelled_in_pascal_snake_kebab_or_camel_case(event):
    words = "".join(f"_{char.lower()}" if char.isupper() else char for char in event).lstrip("_")
    for spelled in (event, words, words.replace("_", "-"), event[0].lower() + event[1:]):
        assert hook_of(f'[[hooks]]\nevent = "{spelled}"\ncommand = "x"').event == event


@pytest.mark.proves("S1-13", "S1-118")
def test_an_unknown_event_leaves_its_entry_out_and_offers_the_nearest_name():
    text = '[[hooks]]\nevent = "PreToolUs"\ncommand = "x"\n[[hooks]]\nevent = "Stop"\ncommand = "y"\n'
    found = parse_text(text)
    assert messages_of(found.problems) == ["snell.toml:2: `PreToolUs` is not an event; did you mean `PreToolUse`?"]
    assert [each.hook.event for each in found.declared] == ["Stop"]


def test_an_event_that_the_settings_announce_is_accepted():
    text = 'extra_events = ["AfterLunch"]\n[[hooks]]\nevent = "AfterLunch"\ncommand = "x"'
    assert hook_of(text).event == "AfterLunch"


def test_far_off_names_get_the_advice_to_announce_them():
    found = parse_text('[[hooks]]\nevent = "Zzz"\ncommand = "x"')
    assert messages_of(found.problems) == [
        "snell.toml:2: `Zzz` is not an event; list it in `extra_events` if your client has it"
    ]


@pytest.mark.proves("S1-154")
@pytest.mark.parametrize("name", ["StatusLine", "FileSuggestion", "status_line", "fileSuggestion"])
def test_status_line_and_file_suggestion_are_settings_and_no_events(name):
    assert parse_text(f'[[hooks]]\nevent = "{name}"\ncommand = "x"').declared == ()
    values = parse_text(f'{name} = "make-it"').values
    assert [(value.name, value.value) for value in values] in (
        [("status_line", {"command": "make-it"})],
        [("file_suggestion", {"command": "make-it"})],
    )


def test_a_status_line_may_be_the_clients_table():
    text = '{"statusLine": {"type": "command", "command": "x", "padding": 0}}'
    assert parse_text(text, "a.json").values == (
        Value("status_line", {"type": "command", "command": "x", "padding": 0}, "user", "a.json", 1),
    )


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("hooks = 3", "1: `hooks` must be a list of hooks or a table of events"),
        ("hooks = [3]", "1: a hook must be a table, not a number"),
        ("[hooks]\nStop = 3", "2: `hooks.Stop` must be a list of hooks"),
        ("[hooks]\nStop = [{ hooks = 3 }]", "2: `hooks` must be a list of handlers"),
        ("[hooks]\nStop = [{ hooks = [3] }]", "2: a handler must be a table, not a number"),
        ("[hooks]\nStop = [{ hooks = [], mater = 1 }]", "2: `mater` is not a key of a group of hooks"),
        ("[hooks]\nStop = [{ hooks = [], Hooks = [] }]", "2: `hooks` is given twice; keep one of them"),
        ("hooks = []\nHooks = []", "2: `hooks` is given twice; keep one of them"),
        (
            "[hooks]\nStop = [{ matcher = 'a', hooks = [{ matcher = 'b', command = 'x' }] }]",
            "2: the matcher is in the group and in the handler; keep one",
        ),
        (
            "[hooks]\nStop = [{ event = 'Setup', command = 'x' }]",
            "2: `event` is not the event under which the hook is listed; remove it",
        ),
        ("[[hook]]\nevent = 'Stop'", "1: `hook` is not a setting; did you mean `hooks`?"),
        ("disable_al_hooks = true", "1: `disable_al_hooks` is not a setting; did you mean `disable_all_hooks`?"),
        ("disable_all_hooks = 'yes'", "1: `disable_all_hooks` must be true or false, not text"),
        ("disable_all_hooks = true\ndisableAllHooks = true", "2: `disable_all_hooks` is given twice"),
        ("rewrites_from = 'polcy'", "1: `rewrites_from` cannot be `polcy`; did you mean `policy`?"),
        (
            "profile = 'strikt'",
            "1: `profile` cannot be `strikt`; did you mean `strict`? use one of observe, balanced, strict",
        ),
        ("profile = 'x'", "1: `profile` cannot be `x`; use one of observe, balanced, strict"),
        ("extra_events = 'x'", "1: `extra_events` must be a list of texts, not text"),
        ("status_line = { padding = 1 }", "1: `status_line` has no `command`"),
    ],
)
def test_what_is_wrong_outside_the_entries_is_said(text, complaint):
    found = parse_text(text)
    assert [each[: len(complaint) + 11] for each in messages_of(found.problems)] == [f"snell.toml:{complaint}"]


def test_hooks_beside_what_is_wrong_still_count():
    found = parse_text('{"nonsense": 1, "hooks": {"Stop": [3, {"command": "x"}], "Nope": [], "Setup": 1}}', "a.json")
    assert [each.hook.handler for each in found.declared] == [Command("x")]
    assert len(found.problems) == 3


def test_a_file_that_holds_no_table_is_refused():
    assert messages_of(parse_text('"x"', "a.json").problems) == [
        "a.json:1: the file contains text instead of settings; write a table with `hooks`"
    ]


@pytest.mark.proves("S1-119")
@pytest.mark.parametrize("file", ["a.toml", "a.json"])
def test_an_empty_file_has_no_hooks_and_a_broken_one_names_its_path(file):
    assert parse_text("", file) == parse_text(" \n", file)
    assert (parse_text("", file).declared, parse_text("", file).problems) == ((), ())
    broken = parse_text("{ [", file)
    assert broken.declared == ()
    assert [each.partition(": ")[0] for each in messages_of(broken.problems)] == [f"{file}:1"]


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("a.toml", '[[hooks]]\nevent = "Stop"\ncommand = "x"\n' * 100_000),
        ("a.json", '{"hooks": {"Stop": [' + '{"command": "x"},' * 100_001 + '{"command": "x"}]}}'),
        ("b.toml", "#" * 5_000_000),
    ],
)
def test_a_huge_file_is_refused_at_once(file, text):
    found = parse_text(text, file)
    assert found.declared == ()
    assert len(found.problems) == 1
    assert found.problems[0].advice == "split it"


@pytest.mark.proves("S1-100")
def test_a_file_may_have_thousands_of_hooks():
    found = parse_text('[[hooks]]\nevent = "Stop"\ncommand = "x"\n' * 5_000)
    assert (len(found.declared), found.problems) == (5_000, ())


def test_more_complaints_than_a_person_would_read_are_counted():
    found = parse_text("".join(f"nonsense_{number} = 1\n" for number in range(150)))
    assert len(found.problems) == 101
    assert str(found.problems[-1]) == "snell.toml:101: and 50 more problems; correct the first ones"
