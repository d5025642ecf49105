"""The registry: scopes and order, switches, trust, duplicates, its cache, and why a hook is skipped."""

from typing import Any

import pytest

from snell.engine import registry as registry_module
from snell.engine.registry import MEMO_LIMIT, MOST_SKIPPED, Registry, once_mark
from snell.handlers.command import Command
from snell.model.decision import Skipped
from snell.model.effects import Deny
from snell.model.events import Event
from snell.model.hooks import Broken, Hook, Inline, PythonFile, Scope, Source, Switches
from snell.store.in_memory import InMemoryStore
from tests.helpers import RecordingExecutor, call, decide_event, event, hook, policy

POLICY, PLUGIN, SESSION, SKILL = Scope


def command(id_: str, line: str = "true", **fields: Any) -> Hook:
    handler = Command(line, plugin_root=fields.pop("plugin_root", ""))
    return Hook(**{"id": id_, "event": "PreToolUse", "handler": handler, **fields})


def picked(registry: Registry, on: Event | None = None, marks: InMemoryStore | None = None) -> list[str]:
    """The hooks that would run, in the order of tiers, rewriters before the others."""
    pick = registry.pick(on or call(), marks or InMemoryStore())
    return [each.id for tier in pick.tiers for each in tier.hooks]


@pytest.mark.proves("S1-36", "S1-91")
def test_a_hook_is_found_under_its_event_and_no_other() -> None:
    registry = Registry([hook("a"), hook("b", on="PostToolUse"), hook("c", on="FromTomorrow")])
    found = {name: picked(registry, event(name, tool_name="Bash")) for name in ("PreToolUse", "PostToolUse", "Stop")}
    assert found == {"PreToolUse": ["a"], "PostToolUse": ["b"], "Stop": []}
    assert picked(registry, event("FromTomorrow")) == ["c"]


@pytest.mark.proves("S1-103", "S1-104", "S1-105", "S1-106", "S1-110")
def test_hooks_are_sorted_by_scope_and_stay_as_declared_inside_one() -> None:
    scopes = [SKILL, SESSION, PLUGIN, POLICY, SKILL, SESSION, PLUGIN, POLICY]
    registry = Registry(hook(f"{scope.name} {number}", scope=scope) for number, scope in enumerate(scopes))
    order = ["POLICY 3", "POLICY 7", "PLUGIN 2", "PLUGIN 6", "SESSION 1", "SESSION 5", "SKILL 0", "SKILL 4"]
    assert ([each.id for each in registry.hooks()], picked(registry)) == (order, order)


@pytest.mark.proves("S1-109")
def test_all_switches_are_off_by_default() -> None:
    assert Switches() == Switches(False, False, False, "")
    assert Registry([]).switches == Switches()


@pytest.mark.proves("S1-103", "S1-107", "S1-108", "S1-109", "S1-111")
@pytest.mark.parametrize(
    ("switches", "running"),
    [
        (Switches(), ["POLICY", "PLUGIN", "SESSION", "SKILL"]),
        (Switches(allow_managed_hooks_only=True), ["POLICY"]),
        (Switches(disable_all_hooks=True), ["POLICY"]),
        (Switches(paused="paused by a person"), ["POLICY"]),
        (Switches(disable_all_hooks=True, allow_managed_hooks_only=True), ["POLICY"]),
        (Switches(policy_disables_all=True), []),
        (Switches(rewrites_from="policy"), ["POLICY", "PLUGIN", "SESSION", "SKILL"]),
    ],
)
def test_the_switches_look_at_the_scope_alone(switches: Switches, running: list[str]) -> None:
    for role in ("rewrites", "judges", "informs", None):
        registry = Registry([hook(scope.name, scope=scope, role=role) for scope in Scope], switches=switches)
        assert picked(registry) == running
    watching = Registry([hook(scope.name, scope=scope, role="watches") for scope in Scope], switches=switches)
    assert [each.id for each in watching.pick(call(), InMemoryStore()).watchers] == running


@pytest.mark.proves("S1-108")
def test_a_disabled_watcher_does_not_run_either() -> None:
    registry = Registry([hook("w", role="watches")], switches=Switches(disable_all_hooks=True))
    assert registry.pick(call(), InMemoryStore()).watchers == ()


@pytest.mark.proves("S1-112")
def test_an_untrusted_hook_is_inert_while_policy_and_user_hooks_run() -> None:
    hooks = [
        policy("policy"),
        hook("user", source=Source("user")),
        hook("project", source=Source("project"), untrusted="no user has trusted it; run `snell trust`"),
    ]
    registry = Registry(hooks)
    assert picked(registry) == ["policy", "user"]
    assert registry.skipped_hooks(call(), InMemoryStore()) == [
        Skipped("project", "no user has trusted it; run `snell trust`"),
    ]


@pytest.mark.proves("S1-43")
def test_a_hook_that_is_not_enabled_does_not_run() -> None:
    assert picked(Registry([hook("on"), hook("off", enabled=False), policy("policy off", enabled=False)])) == ["on"]


@pytest.mark.proves("S1-41")
@pytest.mark.parametrize("tool", ["Bash", "Read", "mcp__a__b", ""])
def test_a_hook_without_a_matcher_runs_on_every_occurrence(tool: str) -> None:
    assert picked(Registry([hook("a")]), call(tool=tool)) == ["a"]


@pytest.mark.proves("S1-34")
def test_a_matcher_does_not_fit_a_tool_event_without_a_tool_name() -> None:
    registry = Registry([hook("named", matcher="Bash"), hook("pattern", matcher=".*"), hook("all", matcher="*")])
    assert picked(registry, event("PreToolUse")) == ["all"]


@pytest.mark.proves("S1-34")
def test_a_matcher_on_an_event_without_a_field_is_ignored_with_a_warning_that_names_its_place() -> None:
    registry = Registry([hook("a", on="Stop", matcher="Bash", source=Source("user", "/home/me/snell.toml", 7))])
    assert registry.problems == ["/home/me/snell.toml:7: Stop has nothing to match, so the matcher is ignored"]
    assert picked(registry, event("Stop")) == ["a"]


def test_a_star_or_no_matcher_on_such_an_event_is_no_problem() -> None:
    assert Registry([hook("a", on="Stop"), hook("b", on="Stop", matcher="")]).problems == []


@pytest.mark.proves("S1-33")
def test_a_bad_pattern_is_a_problem_with_file_and_line_and_its_hook_stays_out() -> None:
    registry = Registry([hook("a", matcher="Bash(", source=Source("user", "/home/me/snell.toml", 12)), hook("b")])
    assert [problem.partition(" is not")[0] for problem in registry.problems] == [
        "/home/me/snell.toml:12: hook `a`: `Bash(`"
    ]
    assert picked(registry) == ["b"]


@pytest.mark.proves("S1-33")
@pytest.mark.parametrize("role", [None, "judges"])
def test_a_policy_guard_with_a_bad_pattern_becomes_a_hook_that_fails_on_every_call(role: str | None) -> None:
    registry = Registry([policy("guard", matcher="[", role=role, source=Source("policy", "/etc/snell.toml", 3))])
    (guard,) = registry.pick(call(), InMemoryStore()).hooks
    assert isinstance(guard.handler, Broken)
    assert (guard.id, guard.scope, guard.failure_policy) == ("guard", POLICY, "block")
    assert len(registry.problems) == 1


def test_a_policy_informer_with_a_bad_pattern_just_stays_out() -> None:
    assert picked(Registry([policy("i", role="informs", matcher="["), policy("w", role="watches", matcher="[")])) == []


@pytest.mark.proves("S1-33")
def test_a_pattern_that_takes_too_long_runs_its_hook_and_says_so() -> None:
    registry = Registry([hook("a", matcher="^(a|aa)+$", source=Source("user", "s.toml", 4))])
    assert picked(registry, call(tool="a" * 60 + "!")) == ["a"]
    assert registry.problems == [
        "s.toml:4: hook `a` runs on every event: `^(a|aa)+$` takes too long to match; simplify the pattern"
    ]


def test_identical_handlers_run_once_and_the_first_in_execution_order_stays() -> None:
    registry = Registry(
        [
            command("project", timeout=1, source=Source("project")),
            command("user", timeout=20),
            command("skill", scope=SKILL),
            command("other", "false"),
        ]
    )
    assert picked(registry) == ["project", "other"]


@pytest.mark.parametrize(
    "pair",
    [
        (command("a"), command("b", scope=POLICY)),
        (command("a"), command("b", plugin_root="/plugins/x", scope=PLUGIN)),
        (command("a"), command("b", condition="Bash(git *)")),
        (command("a"), command("b", session_id="s1")),
        (hook("a"), hook("b")),
    ],
    ids=["in the policy", "in a plugin", "with a condition", "of a session", "other functions"],
)
def test_handlers_that_differ_in_what_matters_both_run(pair: tuple[Hook, Hook]) -> None:
    assert sorted(picked(Registry(pair))) == ["a", "b"]


def test_a_used_up_once_copy_does_not_hide_the_copy_that_runs_every_time() -> None:
    once, usual = command("once", once=True), command("usual")
    marks = InMemoryStore()
    marks.put("session:s1", once_mark(once), True)
    assert picked(Registry([once, usual]), marks=marks) == ["usual"]


def test_one_python_function_from_two_versions_of_a_file_runs_once() -> None:
    hooks = [Hook(id=d, event="PreToolUse", handler=PythonFile("/h.py", "f", d)) for d in ("old", "new")]
    assert picked(Registry(hooks)) == ["old"]


def test_post_tool_use_asks_the_policy_last() -> None:
    hooks = [policy("policy"), hook("user"), hook("skill", scope=SKILL)]
    on_post = [hook(each.id, on="PostToolUse", scope=each.scope) for each in hooks]
    assert picked(Registry(on_post), call(name="PostToolUse")) == ["user", "skill", "policy"]


def test_rewriters_of_post_tool_use_run_with_the_higher_scope_last() -> None:
    scopes = (PLUGIN, SESSION, SKILL)
    hooks = [hook(scope.name, on="PostToolUse", scope=scope, role="rewrites") for scope in scopes]
    assert picked(Registry(hooks), call(name="PostToolUse")) == ["SKILL", "SESSION", "PLUGIN"]


@pytest.mark.proves("S1-155")
@pytest.mark.parametrize(
    ("fields", "waits"),
    [
        ({}, True),
        ({"role": "watches"}, False),
        ({"is_async": True}, False),
        ({"is_async": True, "force_sync": True}, True),
        ({"is_async": True, "on": "SessionStart"}, True),
        ({"role": "watches", "on": "SessionStart"}, False),
    ],
)
def test_async_hooks_are_not_waited_for_unless_forced_or_on_session_start(fields: dict[str, Any], waits: bool) -> None:
    declared = hook("a", **fields)
    pick = Registry([declared]).pick(event(declared.event, tool_name="Bash"), InMemoryStore())
    answering = tuple(each for tier in pick.tiers for each in tier.others)
    assert (answering, pick.watchers) == (((declared,), ()) if waits else ((), (declared,)))


def test_a_hook_of_a_session_runs_in_that_session_only() -> None:
    registry = Registry([hook("mine", session_id="s1"), hook("theirs", session_id="s2"), hook("shared")])
    found = [picked(registry), picked(registry, call(session_id="s2")), picked(registry, call(session_id=""))]
    assert found == [["mine", "shared"], ["theirs", "shared"], ["shared"]]


@pytest.mark.proves("S1-97")
def test_only_once_hooks_that_have_run_are_taken_out() -> None:
    ran, waiting, usual = hook("ran", once=True), hook("waiting", once=True), hook("usual")
    marks = InMemoryStore()
    marks.put("session:s1", once_mark(ran), True)
    registry = Registry([ran, waiting, usual])
    assert picked(registry, marks=marks) == ["waiting", "usual"]
    assert picked(registry, call(session_id="s2"), marks) == ["ran", "waiting", "usual"]


def test_a_condition_is_asked_for_each_event_anew() -> None:
    one, two = hook("a", condition="ls only"), hook("b")
    registry = Registry([one, two], condition=lambda _rule, on: on.tool_input["command"] == "ls")
    assert [(registry.applies(one, call(word)), registry.applies(two, call(word))) for word in ("ls", "rm", "ls")] == [
        (True, True),
        (False, True),
        (True, True),
    ]
    assert [each.why for each in registry.skipped_hooks(call("rm"), InMemoryStore())] == [
        "its condition `ls only` does not hold"
    ]


@pytest.mark.parametrize(("matcher", "kind"), [("|", None), (" , ", None), ("", "exact"), (" ", None), ("", "or")])
def test_a_matcher_that_names_nothing_is_reported(matcher: str, kind: str | None) -> None:
    registry = Registry([hook("a", matcher=matcher, matcher_type=kind)])
    assert [problem.partition("hook ")[2] for problem in registry.problems] == [
        "`a`: its matcher names nothing, so it never runs"
    ]


def test_kinds_narrow_a_hook_to_tools_of_that_kind_in_any_client() -> None:
    registry = Registry([hook("shell", kinds=("shell",)), hook("files", kinds=("edit", "write"))])
    tools = ("Bash", "PowerShell", "Write", "MultiEdit", "Read", "")
    assert {tool: picked(registry, call(tool=tool)) for tool in tools} == {
        "Bash": ["shell"],
        "PowerShell": ["shell"],
        "Write": ["files"],
        "MultiEdit": ["files"],
        "Read": [],
        "": [],
    }


def test_a_matcher_finds_a_tool_by_the_clients_own_name_too() -> None:
    own = Event(name="PreToolUse", payload={}, tool="Bash", tool_name="shell_command", kind="shell")
    hooks = [hook("claude's", matcher="Bash"), hook("own", matcher="shell_command"), hook("other", matcher="Read")]
    assert picked(Registry(hooks), own) == ["claude's", "own"]


def test_an_event_that_is_matched_by_another_field_is_not_taken_for_its_tool() -> None:
    registry = Registry([hook(each, on="PreCompact", matcher=each) for each in ("auto", "manual")])
    for trigger in ("manual", "auto", "manual"):
        assert picked(registry, event("PreCompact", trigger=trigger, tool_name="Bash")) == [trigger]


def test_every_reason_for_not_running_is_given() -> None:
    used, marks = hook("used", once=True), InMemoryStore()
    marks.put("session:s1", once_mark(used), True)
    registry = Registry(
        [
            hook("runs"),
            hook("off", enabled=False),
            hook("inert", untrusted="not trusted"),
            hook("shell", kinds=("edit", "write")),
            hook("matched", matcher="Read|Write"),
            hook("elsewhere", session_id="s2"),
            hook("conditional", condition="Bash(git *)"),
            hook("other event", on="Stop"),
            used,
        ],
        condition=lambda _rule, _event: False,
    )
    assert registry.skipped_hooks(call(), marks) == [
        Skipped("off", "it is not enabled"),
        Skipped("inert", "not trusted"),
        Skipped("shell", "it is for edit, write calls, this is shell"),
        Skipped("matched", "matcher `Read|Write` does not match `Bash`"),
        Skipped("elsewhere", "it belongs to another session"),
        Skipped("conditional", "its condition `Bash(git *)` does not hold"),
        Skipped("used", "it runs once a session, and has run"),
    ]


@pytest.mark.parametrize(
    ("switches", "why"),
    [
        (Switches(disable_all_hooks=True), "disable_all_hooks is set"),
        (Switches(paused="paused by a person"), "paused by a person"),
        (Switches(allow_managed_hooks_only=True), "allow_managed_hooks_only is set"),
        (Switches(policy_disables_all=True), "the policy sets disable_all_hooks"),
    ],
)
def test_a_switch_is_named_as_the_reason(switches: Switches, why: str) -> None:
    assert Registry([hook("a")], switches=switches).skipped_hooks(call(), InMemoryStore()) == [Skipped("a", why)]


@pytest.mark.proves("S1-100")
@pytest.mark.parametrize("number", [500, 5_000])
def test_hundreds_and_thousands_of_hooks_of_one_event_all_run(number: int) -> None:
    executor = RecordingExecutor()
    decision = decide_event(call(), *(hook(f"h{n}", Deny(f"no {n}")) for n in range(number)), executor=executor)
    assert executor.rounds == [([f"h{n}" for n in range(number)], {"command": "ls"})]
    assert len(list(decision.runs())) == number


@pytest.mark.proves("S1-35")
def test_ten_thousand_hooks_are_matched_once_for_each_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def counting(pattern: str | None, kind: str | None, row: object) -> Any:
        return lambda name: asked.append(name) or pattern == f"^{name}$"

    monkeypatch.setattr(registry_module, "compile_matcher", counting)
    registry = Registry(hook(f"h{n}", matcher=f"^Tool{n}$") for n in range(10_000))
    first = picked(registry, call("0", tool="Tool7"))
    once = len(asked)
    assert once >= 10_000
    found = [picked(registry, call(str(n), tool="Tool7")) for n in range(1, 50)]
    assert ([first, *found], len(asked)) == ([["h7"]] * 50, once)


def test_the_cache_of_the_registry_does_not_grow_without_end() -> None:
    registry = Registry([hook("a", matcher="Tool1")])
    for n in range(MEMO_LIMIT + 50):
        picked(registry, call(tool=f"Tool{n}"))
    assert len(registry._picks) <= MEMO_LIMIT
    assert picked(registry, call(tool="Tool1")) == ["a"]


@pytest.mark.proves("S1-139")
@pytest.mark.parametrize(
    ("source", "shown"),
    [
        (Source(), "run time"),
        (Source("policy", "/etc/snell/policy.toml", 3), "/etc/snell/policy.toml:3"),
        (Source("user", "/home/me/.config/snell/snell.toml"), "/home/me/.config/snell/snell.toml"),
        (Source("plugin:lab", "/plugins/lab/hooks.json", 9), "/plugins/lab/hooks.json:9"),
        (Source("skill:deploy"), "skill:deploy"),
    ],
)
def test_every_hook_in_the_registry_says_where_it_came_from(source: Source, shown: str) -> None:
    (kept,) = Registry([hook("a", source=source)]).hooks()
    assert (kept.source, str(kept.source)) == (source, shown)


def test_an_inline_hook_is_known_by_its_function() -> None:
    def function(_event: Event) -> None: ...

    twice = [Hook(id=name, event="PreToolUse", handler=Inline(function)) for name in ("a", "b")]
    assert picked(Registry(twice)) == ["a"]


def test_of_many_hooks_for_other_tools_a_trace_names_some_and_counts_the_rest() -> None:
    others = [hook(f"other {number}", matcher=f"Tool{number}") for number in range(MOST_SKIPPED + 50)]
    disabled = hook("disabled", matcher="Bash", enabled=False)
    skipped = Registry([*others, disabled]).skipped_hooks(call(), InMemoryStore())
    assert [each.hook for each in skipped[:2]] == ["other 0", "other 1"]
    assert skipped[-2:] == [
        Skipped("disabled", "it is not enabled"),
        Skipped("50 more hooks", "they are for other tools"),
    ]
    assert len(skipped) == MOST_SKIPPED + 2


@pytest.mark.parametrize("matcher", ["Bash|Edit", "Ba*", "^Ba.h$", "", "*", "Edit, Bash"])
def test_the_index_finds_a_hook_by_any_kind_of_matcher(matcher: str) -> None:
    registry = Registry([hook("a", matcher="Read"), hook("b", matcher=matcher), hook("c", kinds=("shell",))])
    assert picked(registry) == ["b", "c"]
