"""One entry: every key, every mistake."""

import pytest

from snell.handlers.command import Command
from snell.handlers.webhook import Webhook
from snell.model.catalogue import fold_name
from tests.unit.settings.settings_files import hook_of, messages_of, parse_text

ENTRY = '[[hooks]]\nevent = "PreToolUse"\n'


def problems(text: str, **reading) -> list[str]:
    """What is said of an entry that is left out."""
    found = parse_text(ENTRY + text, **reading)
    assert found.declared == ()
    return [each.removeprefix("snell.toml:") for each in messages_of(found.problems)]


def remarks(text: str) -> list[str]:
    """What is said of an entry that counts all the same."""
    found = parse_text(ENTRY + text)
    assert len(found.declared) == 1
    return [f"{each.severity}: {each}".replace("snell.toml:", "") for each in found.problems]


@pytest.mark.proves("S1-37", "S1-117")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "1: the hook has no handler; add a `command`, or one of the handler tables"),
        ('matcher = "Bash"', "1: the hook has no handler; add a `command`, or one of the handler tables"),
        ('agent = "look"', "3: the handler must be a table; write its keys below [hooks.NAME]"),
        ('command = "x"\nurl = "y"', "1: the hook has two handlers: command and webhook; keep one of them"),
        ('command = "x"\n[hooks.shell]\ncommand = "y"', "1: the hook has two handlers: command and command"),
        ("[hooks.shell]\n[hooks.webhook]", "1: the hook has two handlers: command and webhook; keep one of them"),
        ('type = "http"\ncommand = "x"', "1: the hook has two handlers: webhook and command; keep one of them"),
        ('type = "http"\n[hooks.shell]\ncommand = "x"', "1: the hook has two handlers: command and webhook"),
        ('type = "htp"\ncommand = "x"', "3: `htp` is not a type of handler; did you mean `http`?"),
        ("type = 3", "3: a number is not a type of handler; use one of command, shell"),
        ('type = "command"', "1: the command handler has no `command`; add it: the command line, or the program"),
        ('[hooks.webhook]\nmethod = "POST"', "1: the webhook handler has no `url`; add it: the address for the event"),
        ("[hooks.shell]", "1: the command handler has no `command`"),
        ('server = "s"', "1: the mcp_tool handler has no `tool`"),
    ],
)  # fmt: skip
def test_an_entry_without_a_handler_or_with_two_is_left_out_and_reported(text, said):
    assert [each[: len(said)] for each in problems(text)] == [said]


def test_type_may_repeat_what_the_table_says():
    assert hook_of(ENTRY + 'type = "command"\n[hooks.command]\ncommand = "x"').handler == Command("x")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('comand = "x"\ncommand = "y"', "3: `comand` is not a key of a hook; did you mean `command`?"),
        ('command = "x"\nmacher = "y"', "4: `macher` is not a key of a hook; did you mean `matcher`?"),
        ('command = "x"\nzzz = "y"', "4: `zzz` is not a key of a hook; remove it"),
        ('command = "x"\nmethod = "PUT"', "4: `method` does not belong to a command handler"),
        ('[hooks.shell]\ncommand = "x"\nevent = "Stop"', "5: `event` is not a key of a hook"),
        ('command = "x"\ntimeout = 1\n[hooks.x]\ny = 1', "5: `x` is not a key of a hook; remove it"),
        ('command = "x"\nonce = true\nOnce = true', "5: `once` is given twice; keep one of them"),
        ('name = "a"\nid = "b"\ncommand = "x"', "4: `id` is given twice; keep one of them"),
        ('matcher = "a"\ntool_matcher = "b"\ncommand = "x"', "4: `matcher` is given twice; keep one of them"),
        ('once = true\n[hooks.shell]\nonce = true\ncommand = "x"', "5: `once` is given twice; keep one of them"),
        ('command = "x"\nonce = "yes"', "4: `once` must be true or false, not text"),
        ("command = 3", "3: `command` must be text, not a number; put it in quotes"),
        ('command = "  "', "3: `command` is empty; set it: the command line, or the program when there are `args`"),
        ('command = "a\\u0000b"', "3: `command` holds a NUL character; remove it"),
        ('command = "x"\nargs = "y"', "4: `args` must be a list of texts, not text; put it in [ ]"),
        ('command = "x"\nargs = [1]', "4: `args` must be text, not a number; put it in quotes"),
        ('command = "x"\nrole = "judge"', "4: `role` cannot be `judge`; did you mean `judges`? use one of rewrites"),
        ('command = "x"\non_failure = "deny"', "4: `on_failure` cannot be `deny`; use one of allow, ask, block"),
        ('command = "x"\nkind = "shel"', "4: `kind` cannot be `shel`; did you mean `shell`?"),
        ('command = "x"\nexit_code_mode = 2', "4: `exit_code_mode` must be text, not a number"),
        ('command = "x"\nmatcher = 3', "4: `matcher` must be text or a table of `type` and `pattern`"),
        ('command = "x"\nmatcher = { patern = "x" }', "4: `matcher` must be text or a table of `type` and `pattern`"),
        ('command = "x"\nmatcher = { pattern = 3 }', "4: `type` and `pattern` of `matcher` must be text"),
        ('command = "x"\nmatcher_type = "glob"', "4: `matcher_type` cannot be `glob`; use one of all, exact"),
        ('command = "x"\nname = "a\\nb"', "4: the name has unprintable characters, or more than 200; shorten it"),
        ('[hooks.webhook]\nurl = "x"\nmethod = "GET"', "5: `method` cannot be `GET`; use one of POST, PUT"),
        ('[hooks.webhook]\nurl = "x"\nheaders = { a = 1 }', "5: `headers.a` must be text, not a number"),
        ('server = "s"\ntool = "t"\ninput = "x"', "5: `input` must be a table, not text"),
        ('command = 1979-05-27', "3: `command` must be text, not a date or time"),
    ],
)  # fmt: skip
def test_a_wrong_key_or_value_leaves_its_entry_out_with_file_line_and_advice(text, said):
    assert [each[: len(said)] for each in problems(text)] == [said]


def test_every_mistake_of_an_entry_is_said_at_once():
    assert [each.partition(":")[0] for each in problems('command = 1\nonce = 2\nmacher = "x"\nrole = "y"')] == [
        "3", "4", "5", "6",
    ]  # fmt: skip


def test_a_wrong_entry_costs_only_itself():
    found = parse_text(f'{ENTRY}comand = "x"\n{ENTRY}command = "y"\n')
    assert [each.hook.handler for each in found.declared] == [Command("y")]


@pytest.mark.proves("S1-33")
def test_a_bad_pattern_is_an_error_with_file_and_line_and_never_a_crash():
    advice = r"escape special characters with a backslash, such as `\(`"
    assert problems('command = "x"\nmatcher = "Bash("') == [
        f"4: `Bash(` is not a regular expression: missing ) at position 5; {advice}"
    ]
    assert problems(f'command = "x"\nmatcher = ".{"a" * 1000}"') == [
        "4: the pattern has 1001 characters; keep it under 1000"
    ]


@pytest.mark.proves("S1-34")
def test_a_matcher_on_an_event_without_a_matcher_field_is_ignored_with_a_warning():
    found = parse_text('[[hooks]]\nevent = "Stop"\nmatcher = "Bash"\ncommand = "x"')
    assert [(each.hook.event, each.hook.matcher) for each in found.declared] == [("Stop", None)]
    assert messages_of(found.problems) == [
        "snell.toml:3: Stop has nothing to match, so the matcher is ignored; remove it"
    ]
    assert found.problems[0].severity == "warning"


@pytest.mark.parametrize("matcher", ['"^(A|B)$"', '{ pattern = "^(A|B)$" }'])
def test_a_matcher_is_text_or_a_table(matcher):
    hook = hook_of(f'{ENTRY}command = "x"\nmatcher = {matcher}')
    assert (hook.matcher, hook.matcher_type) == ("^(A|B)$", None)


@pytest.mark.parametrize(
    "text",
    [
        'matcher = { type = "exact", pattern = "a*" }',
        'tool_matcher = { type = "Exact", pattern = "a*" }',
        'matcher = "a*"\nmatcher_type = "exact"',
    ],
)
def test_the_type_of_a_matcher_can_be_said(text):
    hook = hook_of(f'{ENTRY}command = "x"\n{text}')
    assert (hook.matcher, hook.matcher_type) == ("a*", "exact")


@pytest.mark.proves("S1-38", "S1-41", "S1-43")
def test_fields_that_are_not_given_have_their_defaults():
    hook = hook_of(ENTRY + 'command = "x"')
    assert (hook.once, hook.matcher, hook.enabled, hook.status_message) == (False, None, True, "")
    assert (hook.group, hook.is_async, hook.force_sync, hook.exit_code_mode) == ("", False, False, "client")
    assert (hook.role, hook.on_failure, hook.kinds, hook.condition) == (None, None, (), None)


@pytest.mark.proves("S1-38", "S1-43", "S1-44")
@pytest.mark.parametrize(
    ("text", "table"),
    [
        ("once enabled status_message group async force_sync exit_code_mode on_failure kinds", ""),
        ("once enabled statusMessage group async forceSyncExecution exitCodeMode onFailure kind", ""),
        ("enabled group Kinds", "once status-message async force-sync-execution exit-code-mode on-failure"),
    ],
)
def test_every_field_can_be_set_in_every_spelling_in_the_entry_or_in_the_handlers_table(text, table):
    values = {"enabled": "false", "statusmessage": '"m"', "group": '"g"', "exitcodemode": '"strict"'}
    values |= {"onfailure": '"ask"', "kind": '["shell", "edit"]', "kinds": '["shell", "edit"]'}

    def lines(names):
        return "".join(f"{name} = {values.get(fold_name(name), 'true')}\n" for name in names.split())

    handler = f'[hooks.command]\ncommand = "x"\n{lines(table)}' if table else 'command = "x"\n'
    hook = hook_of(f'{ENTRY}role = "judges"\nif = "Bash(git *)"\n{lines(text)}{handler}')
    assert (hook.once, hook.enabled, hook.status_message, hook.group) == (True, False, "m", "g")
    assert (hook.is_async, hook.force_sync, hook.exit_code_mode, hook.on_failure) == (True, True, "strict", "ask")
    assert (hook.role, hook.kinds, hook.condition, hook.handler) == (
        "judges", ("shell", "edit"), "Bash(git *)", Command("x"),
    )  # fmt: skip


def test_one_kind_may_stand_alone():
    assert hook_of(ENTRY + 'kind = "shell"\ncommand = "x"').kinds == ("shell",)


@pytest.mark.parametrize(
    ("text", "pass_context", "parse_result"),
    [
        ('[hooks.shell]\ncommand = "x"', False, False),
        ('[hooks.shell]\ncommand = "x"\npass_context = true', True, False),
        ('[hooks.shell]\ncommand = "x"\nparse_result = true', False, True),
        ('type = "shell"\ncommand = "x"', False, False),
        ('[hooks.command]\ncommand = "x"', True, True),
        ('[hooks.command]\ncommand = "x"\npass_context = false', False, True),
        ('command = "x"', True, True),
        ('type = "command"\ncommand = "x"\nparseResult = false', True, False),
    ],
)
def test_only_the_shell_form_is_deaf_and_mute_by_default(text, pass_context, parse_result):
    assert hook_of(ENTRY + text).handler == Command("x", pass_context=pass_context, parse_result=parse_result)


def test_webhook_defaults_protect_what_is_sent():
    assert hook_of(ENTRY + 'url = "https://x"').handler == Webhook("https://x", "POST", {}, (), True)


@pytest.mark.proves("S1-40")
def test_a_hook_has_its_own_name_or_one_made_from_its_definition():
    assert hook_of(ENTRY + 'name = "mine"\ncommand = "x"').id == "mine"
    made = hook_of(ENTRY + 'command = "/opt/tools/check.sh --all"').id
    assert made.startswith("PreToolUse-check.sh-")
    assert hook_of("# moved\n\n" + ENTRY + 'command = "/opt/tools/check.sh --all"').id == made
    assert hook_of(ENTRY + 'command = "/opt/tools/check.sh --some"').id != made


def test_what_only_another_client_can_do_is_accepted_with_a_hint():
    assert remarks('command = "x"\nrewakeMessage = "up"\nshell = "powershell"') == [
        "hint: 4: `rewakeMessage` has no effect: it belongs to asyncRewake",
        "hint: 5: `shell` has no effect: commands run in the system's shell",
    ]
    assert remarks('command = "x"\nshell = "bash"') == []


def test_a_condition_on_an_event_without_a_tool_draws_a_warning():
    found = parse_text('[[hooks]]\nevent = "Stop"\nif = "Bash(x)"\ncommand = "x"')
    assert messages_of(found.problems) == [
        "snell.toml:3: `if` is for tool calls, and Stop is not a tool call; remove it"
    ]


def test_a_question_on_an_event_without_a_conversation_draws_a_warning():
    found = parse_text('[[hooks]]\nevent = "SessionStart"\nprompt = "ok?"')
    assert messages_of(found.problems) == [
        "snell.toml:1: SessionStart has no conversation that a prompt hook could read; use a command"
    ]


def test_another_programs_file_may_have_keys_of_its_own():
    text = '{"model": "x", "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x", "later": 1}], "y": 1}]}}'
    found = parse_text(text, "settings.json", is_foreign=True)
    assert [each.hook.handler for each in found.declared] == [Command("x")]
    assert [(each.severity, each.message) for each in found.problems] == [("hint", "`later` is unknown and ignored")]


def test_a_hook_that_may_wake_the_agent_is_async():
    hook = hook_of('[[hooks]]\nevent = "Stop"\ncommand = "x"\nasyncRewake = true\n')
    assert (hook.is_async, hook.rewakes, hook.runs_later) == (True, True, True)
