"""Seconds, milliseconds, defaults and the cap."""

import pytest

from tests.unit.settings.settings_files import hook_of, messages_of, parse_text

HANDLERS = {
    "command": ('command = "x"', 600.0),
    "webhook": ('url = "x"', 30.0),
    "prompt": ('prompt = "x"', 30.0),
    "agent": ('type = "agent"\nprompt = "x"', 60.0),
    "mcp_tool": ('server = "x"\ntool = "y"', 600.0),
    "python": ('file = "x.py"\nfunction = "y"', 600.0),
}


def entry(text: str, event: str = "PreToolUse") -> str:
    return f'[[hooks]]\nevent = "{event}"\n{text}\n'


@pytest.mark.proves("S1-39")
@pytest.mark.parametrize("kind", HANDLERS)
def test_the_default_depends_on_the_handler(kind):
    text, seconds = HANDLERS[kind]
    assert hook_of(entry(text)).timeout == seconds


@pytest.mark.proves("S1-39")
@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("timeout = 5", 5.0),
        ("timeout = 0.5", 0.5),
        ("timeout_sec = 60", 60.0),
        ("timeoutSec = 60", 60.0),
        ("timeout_ms = 1500", 1.5),
        ("timeoutMs = 60000", 60.0),
    ],
)
def test_a_time_limit_is_in_seconds_unless_the_key_says_milliseconds(text, seconds):
    assert hook_of(entry(f'{text}\ncommand = "x"')).timeout == seconds


@pytest.mark.parametrize(("event", "seconds"), [("UserPromptSubmit", 30), ("PreModelSwitch", 30), ("Stop", 600)])
def test_in_the_clients_form_a_person_waits_no_longer_than_in_the_client(event, seconds):
    text = f'{{"hooks": {{"{event}": [{{"hooks": [{{"type": "command", "command": "x"}}]}}]}}}}'
    assert hook_of(text, "a.json").timeout == seconds
    assert hook_of(entry('command = "x"', event)).timeout == 600.0


@pytest.mark.proves("S1-39", "S0-69")
@pytest.mark.parametrize(
    ("text", "remark"),
    [
        ("timeout = 700", "`timeout` is above the longest limit of 600 s, which is used instead; lower it"),
        ("timeout_ms = 700000", "`timeout_ms` is above the longest limit of 600 s, which is used instead; lower it"),
        (
            "timeout = 30000",
            "`timeout` is in seconds, and 30000 is above 600; write timeout_ms = 30000",
        ),
        (
            "timeout = 1000",
            "`timeout` is in seconds, and 1000 is above 600; write timeout_ms = 1000",
        ),
    ],
)
def test_no_limit_exceeds_the_cap_and_a_suspicious_one_is_pointed_out(text, remark):
    found = parse_text(entry(f'{text}\ncommand = "x"'))
    assert [each.hook.timeout for each in found.declared] == [600.0]
    assert [each.removesuffix(" for milliseconds") for each in messages_of(found.problems)] == [
        f"snell.toml:3: {remark}"
    ]
    assert found.problems[0].severity == "warning"


@pytest.mark.proves("S1-161")
def test_a_command_that_may_run_for_more_than_a_minute_draws_a_hint():
    found = parse_text(entry('timeout = 90\ncommand = "x"'))
    assert [each.hook.timeout for each in found.declared] == [90.0]
    assert [(each.severity, str(each)) for each in found.problems] == [
        ("hint", "snell.toml:3: `timeout` lets the agent wait 90 s for a command hook; 60 s or less is recommended")
    ]


@pytest.mark.proves("S1-161")
@pytest.mark.parametrize("text", ['timeout = 60\ncommand = "x"', 'command = "x"', 'timeout = 90\nurl = "x"'])
def test_no_hint_for_a_minute_for_the_default_or_for_other_handlers(text):
    assert hook_of(entry(text)).timeout >= 60.0


@pytest.mark.parametrize("value", ["0", "-1", "-0.5", "nan", "inf", "-inf", '"60"', "true", "[60]", "1979-05-27"])
@pytest.mark.parametrize("key", ["timeout", "timeout_sec", "timeout_ms", "async_timeout"])
def test_what_is_no_positive_number_is_an_error(key, value):
    found = parse_text(entry(f'{key} = {value}\ncommand = "x"'))
    assert found.declared == ()
    assert [each.line for each in found.problems] == [3]
    assert found.problems[0].message.startswith(f"`{key}` must be ")


def test_two_time_limits_are_an_error():
    found = parse_text(entry('timeout = 1\ntimeout_ms = 1000\ncommand = "x"'))
    assert found.declared == ()
    assert messages_of(found.problems) == [
        "snell.toml:4: the time limit is given as `timeout` and as `timeout_ms`; keep one of them"
    ]


@pytest.mark.proves("S1-156")
def test_an_async_hook_has_fifteen_seconds_and_its_own_limit_counts_milliseconds():
    assert hook_of(entry('async = true\ncommand = "x"')).time_limit == 15.0
    assert hook_of(entry('async = true\nasyncTimeout = 2500\ncommand = "x"')).time_limit == 2.5
    assert hook_of(entry('async = true\nasync_timeout = 900000\ncommand = "x"')).time_limit == 600.0
