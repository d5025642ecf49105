"""A hook's fields, their defaults, and what follows from them."""

from typing import Any

import pytest

from snell.handlers.agent import Agent
from snell.handlers.command import Command
from snell.handlers.mcp_tool import McpTool
from snell.handlers.prompt import Prompt
from snell.handlers.webhook import Webhook
from snell.model.hooks import Broken, Hook, Inline, PythonFile, Scope, Source
from tests.helpers import hook


def nothing(_event: object) -> None: ...


@pytest.mark.proves("S1-36", "S1-37", "S1-38", "S1-41", "S1-43")
def test_the_defaults_of_a_hook() -> None:
    handler = Inline(nothing)
    made = Hook(id="a", event="PreToolUse", handler=handler)
    assert {name: getattr(made, name) for name in made.__struct_fields__} == {
        "id": "a",
        "event": "PreToolUse",
        "handler": handler,
        "scope": Scope.SESSION,
        "role": None,
        "matcher": None,
        "matcher_type": None,
        "kinds": (),
        "condition": None,
        "once": False,
        "is_async": False,
        "force_sync": False,
        "timeout": 600.0,
        "async_timeout": 15.0,
        "rewakes": False,
        "on_failure": None,
        "exit_code_mode": "client",
        "enabled": True,
        "status_message": "",
        "group": "",
        "session_id": "",
        "only_for": "",
        "untrusted": "",
        "source": Source("run time", "", 0),
    }


@pytest.mark.proves("S1-37")
@pytest.mark.parametrize("missing", ["event", "handler"])
def test_a_hook_needs_an_event_and_a_handler(missing: str) -> None:
    fields = {"id": "a", "event": "Stop", "handler": Inline(nothing)}
    del fields[missing]
    with pytest.raises(TypeError, match=f"Missing required argument '{missing}'"):
        Hook(**fields)


def test_two_equal_declarations_are_two_hooks() -> None:
    one, other = (Hook(id="a", event="Stop", handler=Command("true")) for _ in range(2))
    assert (one == other, len({one, other})) == (False, 2)


@pytest.mark.proves("S1-39", "S1-156")
@pytest.mark.parametrize(
    ("fields", "limit"),
    [
        ({}, 600),
        ({"timeout": 5}, 5),
        ({"timeout": 0.25}, 0.25),
        ({"timeout": 3000}, 600),
        ({"is_async": True}, 15),
        ({"is_async": True, "timeout": 5}, 15),
        ({"is_async": True, "async_timeout": 1.5}, 1.5),
        ({"is_async": True, "async_timeout": 3000}, 600),
        ({"is_async": True, "force_sync": True, "timeout": 5}, 5),
        ({"is_async": True, "on": "SessionStart", "timeout": 5}, 5),
        ({"role": "watches", "timeout": 5}, 5),
    ],
)
def test_the_time_limit_is_the_hooks_own_and_never_over_600_seconds(fields: dict[str, Any], limit: float) -> None:
    assert hook("a", **fields).time_limit == limit


@pytest.mark.parametrize("declared", ["allow", "ask", "block"])
@pytest.mark.parametrize("scope", Scope)
def test_a_declared_failure_policy_holds_in_every_scope(declared: str, scope: Scope) -> None:
    assert hook("a", scope=scope, on_failure=declared).failure_policy == declared


@pytest.mark.parametrize(
    ("role", "policy", "elsewhere"),
    [
        (None, "block", "allow"),
        ("judges", "block", "allow"),
        ("rewrites", "allow", "allow"),
        ("informs", "allow", "allow"),
        ("watches", "allow", "allow"),
    ],
)
def test_without_one_only_policy_hooks_that_can_judge_block(role: Any, policy: str, elsewhere: str) -> None:
    found = {scope: hook("a", scope=scope, role=role).failure_policy for scope in Scope}
    assert found == {scope: policy if scope is Scope.POLICY else elsewhere for scope in Scope}


SAME = [
    (Command("a", ("b",)), Command("a", ("b",))),
    (Webhook("http://localhost/a"), Webhook("http://localhost/a", headers={"x": "y"})),
    (Prompt("is it ok?"), Prompt("is it ok?", model="small")),
    (Agent("look"), Agent("look", model="small")),
    (McpTool("s", "t", {"a": 1}), McpTool("s", "t", {"a": 1})),
    (PythonFile("/a.py", "f", "1"), PythonFile("/a.py", "f", "2")),
    (Inline(nothing), Inline(nothing)),
    (Broken("why"), Broken("why")),
]
OTHER = [
    (Command("a"), Command("b")),
    (Command("a"), Command("a", ())),
    (Command("a"), Command("a", plugin_root="/p")),
    (Command("a"), Command("a", parse_result=False)),
    (Webhook("http://localhost/a"), Webhook("http://localhost/b")),
    (Prompt("x"), Agent("x")),
    (McpTool("s", "t", {"a": 1}), McpTool("s", "t", {"a": 2})),
    (PythonFile("/a.py", "f"), PythonFile("/a.py", "g")),
    (Inline(nothing), Inline(lambda event: None)),
]


@pytest.mark.parametrize(("one", "two"), SAME)
def test_handlers_that_do_the_same_are_identical(one: Any, two: Any) -> None:
    assert one.identity == two.identity


@pytest.mark.parametrize(("one", "two"), OTHER)
def test_handlers_that_do_something_else_are_not(one: Any, two: Any) -> None:
    assert one.identity != two.identity


def test_every_kind_of_handler_says_its_kind() -> None:
    handlers = [pair[0] for pair in SAME]
    kinds = ["command", "webhook", "prompt", "agent", "mcp_tool", "python", "python", "broken"]
    assert [handler.kind for handler in handlers] == kinds


@pytest.mark.proves("S1-42")
def test_there_is_no_hook_without_an_event_and_a_handler() -> None:
    for given in ({"id": "a"}, {"id": "a", "event": "PreToolUse"}, {"id": "a", "handler": Broken("x")}):
        with pytest.raises(TypeError):
            Hook(**given)
