"""How a hook is written, and what is refused when it is loaded."""

from typing import Any

import pytest

from snell.model.effects import Deny
from snell.model.errors import HookError
from snell.model.hooks import Inline, Scope, Source
from snell.model.tools import ALL_KINDS
from snell.sdk.decorators import (
    GATE_TIMEOUT,
    Declaration,
    caller_for,
    declarations,
    declared_in,
    hooks_of,
    informs,
    judges,
    rewrites,
    watches,
)
from snell.sdk.subjects import EditCall, ShellCall
from tests.helpers import call, event


@judges("PreToolUse", kind="shell")
def no_force_push(call: ShellCall) -> Deny | None:
    """Refuse a forced push."""
    return Deny("force-push overwrites work") if call.runs("git", "push", "--force") else None


def test_a_decorated_function_stays_an_ordinary_function() -> None:
    assert no_force_push(ShellCall(command="git push --force")) == Deny("force-push overwrites work")
    assert no_force_push.__doc__ == "Refuse a forced push."


def test_it_becomes_a_hook_of_its_role_with_a_gates_time_limit() -> None:
    (made,) = hooks_of([no_force_push], scope=Scope.PLUGIN, pack="guardrails", layer="pack:guardrails")
    handler = made.handler
    assert isinstance(handler, Inline)
    assert {name: getattr(made, name) for name in ("id", "event", "role", "kinds", "scope", "timeout", "source")} == {
        "id": "guardrails/no_force_push",
        "event": "PreToolUse",
        "role": "judges",
        "kinds": ("shell",),
        "scope": Scope.PLUGIN,
        "timeout": 5.0,
        "source": Source("pack:guardrails"),
    }
    assert handler.function(call("git push --force")) == Deny("force-push overwrites work")
    assert handler.function(call("git push")) is None


@pytest.mark.proves("S1-39")
def test_a_gate_of_ours_has_five_seconds() -> None:
    assert GATE_TIMEOUT == 5.0
    assert [each.timeout for each in declarations(no_force_push)] == [5.0]


@pytest.mark.parametrize(
    ("decorate", "role"), [(rewrites, "rewrites"), (judges, "judges"), (informs, "informs"), (watches, "watches")]
)
def test_each_decorator_declares_its_role(decorate: Any, role: str) -> None:
    @decorate("PreToolUse")
    def hook() -> None: ...

    assert declarations(hook) == (Declaration(role=role, event="PreToolUse"),)


def test_every_option_reaches_the_hook() -> None:
    options: dict[str, Any] = {
        "matcher": "Bash*",
        "matcher_type": "wildcard",
        "condition": "Bash(git *)",
        "once": True,
        "timeout": 2.5,
        "on_failure": "block",
        "status_message": "looking",
    }

    @judges("PreToolUse", kinds=["shell", "edit"], **options)
    def hook() -> None: ...

    (made,) = hooks_of([hook])
    assert {name: getattr(made, name) for name in [*options, "kinds"]} == {**options, "kinds": ("shell", "edit")}


def test_one_function_may_react_to_several_events_and_in_several_roles() -> None:
    @watches("SessionEnd")
    @informs("session_start", "user-prompt-submit")
    def greet() -> None: ...

    assert [(each.id, each.role, each.event) for each in hooks_of([greet], pack="p")] == [
        ("p/greet:SessionEnd", "watches", "SessionEnd"),
        ("p/greet:SessionStart", "informs", "SessionStart"),
        ("p/greet:UserPromptSubmit", "informs", "UserPromptSubmit"),
    ]


@pytest.mark.proves("S1-40")
def test_a_hook_is_named_after_its_pack_and_function() -> None:
    made = [hooks_of([no_force_push], pack=pack)[0].id for pack in ("", "pack")]
    assert made == ["no_force_push", "pack/no_force_push"]


def test_the_annotation_of_the_call_says_the_kind() -> None:
    @judges("PreToolUse")
    def typed(call: EditCall) -> None: ...

    @judges("PreToolUse")
    def quoted(call: "subjects.WebCall") -> None: ...  # type: ignore[name-defined]  # noqa: F821 - as text, as authors write it

    @judges("PreToolUse", kind="write")
    def explicit(call: EditCall) -> None: ...

    @judges("PreToolUse")
    def untyped(call) -> None: ...

    kinds = [declarations(each)[0].kinds for each in (typed, quoted, explicit, untyped)]
    assert kinds == [("edit",), ("web",), ("write",), ()]


def test_a_function_gets_the_arguments_it_names() -> None:
    on = call("ls", cwd="/project")
    asked: list[Any] = []

    def wants_all(event, payload, cwd, session_id, call, subject, *rest, limit=3, **more) -> None:
        asked.extend([event, payload, cwd, session_id, call.command, subject.command, rest, limit, more])

    caller_for(wants_all)(on)
    assert asked == [on, on.payload, "/project", "s1", "ls", "ls", (), 3, {}]


@pytest.mark.parametrize(
    ("on", "name", "field", "value"),
    [
        (event("UserPromptSubmit", prompt="hi"), "prompt", "text", "hi"),
        (event("SessionStart", source="resume"), "session", "source", "resume"),
        (event("Stop", stop_hook_active=True), "turn", "is_continuation", True),
        (event("SubagentStop", agent_id="a1"), "agent", "id", "a1"),
        (event("Notification", message="m"), "notification", "message", "m"),
        (event("PreCompact", trigger="auto"), "compaction", "trigger", "auto"),
        (event("TaskCreated", task_subject="s"), "task", "subject", "s"),
        (event("FileChanged", file_path="/a"), "file", "path", "/a"),
    ],
)
def test_each_sort_of_event_has_a_name_of_its_own(on: Any, name: str, field: str, value: Any) -> None:
    namespace: dict[str, Any] = {}
    exec(f"def f({name}): return {name}.{field}", namespace)
    assert caller_for(namespace["f"])(on) == value


def test_a_function_may_want_nothing_or_the_event_alone() -> None:
    on = call()
    assert (caller_for(lambda: "nothing")(on), caller_for(lambda event: event)(on)) == ("nothing", on)


def test_only_decorated_functions_of_a_module_are_hooks_in_the_order_of_the_file() -> None:
    @judges("Stop")
    def second() -> None: ...

    def plain() -> None: ...

    namespace = {"no_force_push": no_force_push, "plain": plain, "number": 7, "second": second, "judges": judges}
    assert list(declared_in(namespace)) == ["no_force_push", "second"]


KINDS = "shell, edit, write, read, search, web, database, mcp, agent, skill, other"


def bad(decorator: Any, source: str = "def hook(): ...") -> str:
    namespace: dict[str, Any] = {}
    exec(compile("\n\n" + source, "mine.py", "exec"), namespace)
    with pytest.raises(HookError) as caught:
        decorator(namespace["hook"])
    return str(caught.value)


@pytest.mark.parametrize(
    ("decorator", "complaint"),
    [
        (judges(), 'name the event: @judges("PreToolUse")'),
        (judges("PreToolUes"), "there is no event `PreToolUes`; did you mean `PreToolUse`?"),
        (judges("Stop", "zzz"), "there is no event `zzz`"),
        (judges("PreToolUse", kind="shel"), f"there is no tool kind `shel`, only {KINDS}; did you mean `shell`?"),
        (judges("PreToolUse", kinds=("shell", "zzz")), f"there is no tool kind `zzz`, only {KINDS}"),
        (judges(7), "there is no event `7`"),
        (informs("PreToolUse", timout=3), "@informs has no option `timout`; did you mean `timeout`?"),
        (informs("PreToolUse", role="judges"), "@informs has no option `role`"),
    ],
)
def test_a_wrong_declaration_is_refused_with_its_place_and_the_near_miss(decorator: Any, complaint: str) -> None:
    assert bad(decorator) == f"mine.py:3: hook `hook`: {complaint}"


@pytest.mark.parametrize("decorate", [judges, rewrites, informs, watches])
def test_a_decorator_without_its_event_is_refused(decorate: Any) -> None:
    role = decorate.__name__
    written = f'write @{role}("PreToolUse")'
    assert bad(decorate) == f"mine.py:3: hook `hook`: @{role} needs the name of an event: {written}"


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("def hook(cal): ...", "unknown argument `cal`; did you mean `call`?"),
        ("def hook(*, zzz): ...", "unknown argument `zzz`"),
        ("def hook(event, sesion): ...", "unknown argument `sesion`; did you mean `session`?"),
    ],
)
def test_a_parameter_that_the_runtime_does_not_supply_is_refused_at_load(source: str, complaint: str) -> None:
    assert bad(judges("PreToolUse"), source) == f"mine.py:3: hook `hook`: {complaint}"


def test_every_kind_that_a_hook_may_name_is_accepted() -> None:
    @judges("PreToolUse", kinds=ALL_KINDS)
    def hook() -> None: ...

    assert declarations(hook)[0].kinds == ALL_KINDS


@pytest.mark.parametrize("options", [{"timeout": -1}, {"timeout": 0}, {"timeout": 601}, {"condition": "Bash(git push"}])
def test_an_option_that_would_switch_the_hook_off_is_refused(options: dict[str, object]) -> None:
    with pytest.raises(HookError, match="@judges"):
        judges("PreToolUse", **options)(lambda event: None)
