"""Measure the engine alone, in process: dispatch against pluggy, and matching as the number of hooks grows."""

import random
import time
from collections.abc import Callable
from types import FunctionType
from typing import Any

import pluggy

from bench.measure import interleaved
from snell.engine.decide import decide
from snell.engine.registry import Registry
from snell.model.context import Context
from snell.model.events import event_from
from snell.model.hooks import Hook, Inline
from snell.runtime.event_flow import run_decision
from snell.runtime.executor import Executor
from snell.sdk.decorators import hooks_of, judges
from snell.store.in_memory import InMemoryStore

EVENT = event_from({"session_id": "bench", "tool_name": "Bash", "tool_input": {"command": "ls"}}, "PreToolUse")


def dispatch_over_pluggy(rounds: int = 60) -> tuple[float, dict[str, float]]:
    """Ten no-op hooks, ours against pluggy's."""
    # Many short turns: a turn that another process interrupts counts for neither, since the best one of each is taken.
    times = interleaved({"ours": _our_call(10), "pluggy": _pluggy_call(10)}, rounds=rounds * 20, calls=50)
    return times["ours"] / times["pluggy"], times


def matching_at_ten_thousand(rounds: int = 60) -> tuple[float, dict[str, float]]:
    """Finding the hooks of an event: 10,000 registered against 10."""
    marks = InMemoryStore()
    small, large = _registry(10), _registry(10_000)
    times = interleaved(
        {"10 hooks": lambda: small.pick(EVENT, marks), "10,000 hooks": lambda: large.pick(EVENT, marks)},
        rounds=rounds,
        calls=2000,
    )
    return times["10,000 hooks"] / times["10 hooks"], times


def new_tool_and_ten_thousand_lists() -> tuple[float, dict[str, float]]:
    """CPU milliseconds for the hooks of a tool that was never seen, and why the others do not apply."""
    return _new_tool({"lists of names": "Tool{0}|Other{0}", "no matcher, another kind": ""})


def new_tool_and_ten_thousand_patterns() -> tuple[float, dict[str, float]]:
    return _new_tool({"beginnings": "Tool{0}*", "regular expressions": "^mcp__s{0}__.*", "groups": "(Tool{0}).*"})


def _new_tool(matchers: dict[str, str]) -> tuple[float, dict[str, float]]:
    found = {f"{name}, CPU ms": _milliseconds_for_new_tools(matcher) for name, matcher in matchers.items()}
    return max(found.values()), found


def _milliseconds_for_new_tools(matcher: str, number: int = 10_000, rounds: int = 10) -> float:
    fields: dict[str, Any] = {} if matcher else {"kinds": ("shell",)}
    handler = Inline(lambda event: None)
    hooks = (
        Hook(id=f"hook-{each}", event="PreToolUse", matcher=matcher.format(each), handler=handler, **fields)
        for each in range(number)
    )
    registry, marks, times = Registry(hooks), InMemoryStore(), []
    for each in range(rounds):
        event = event_from({"session_id": "bench", "tool_name": f"New{each}", "tool_input": {}}, "PreToolUse")
        began = time.process_time()
        registry.pick(event, marks)
        registry.skipped_hooks(event, marks)
        times.append((time.process_time() - began) * 1000)
    return min(times)


def _our_call(number: int) -> Callable[[], object]:
    def no_op(event: Any) -> None:
        return None

    functions = []
    for index in range(number):
        copy = FunctionType(no_op.__code__, no_op.__globals__, f"no_op_{index}")
        functions.append(judges("PreToolUse", matcher="Bash")(copy))
    registry, marks, executor, context = Registry(hooks_of(functions)), InMemoryStore(), Executor(), Context()
    return lambda: run_decision(decide(EVENT, registry, marks), executor, context)


def _pluggy_call(number: int) -> Callable[[], object]:
    specification, implementation = pluggy.HookspecMarker("bench"), pluggy.HookimplMarker("bench")

    class Specification:
        @specification
        def before_tool(self, event: Any) -> None: ...

    manager = pluggy.PluginManager("bench")
    manager.add_hookspecs(Specification)
    for _ in range(number):

        class Plugin:
            @implementation
            def before_tool(self, event: Any) -> None:
                return None

        manager.register(Plugin())
    return lambda: manager.hook.before_tool(event=EVENT)


def _registry(number: int) -> Registry:
    """Hooks with all sorts of matchers over a few events."""
    chosen = random.Random(1)
    events = ["PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop"]
    patterns = ["Bash", "Edit|Write", "^mcp__.*", "Bash*", "", "Read", "mcp__lab__.*"]
    return Registry(
        Hook(
            id=f"hook-{index}",
            event=chosen.choice(events),
            role="judges",
            matcher=chosen.choice(patterns),
            handler=Inline(lambda event: None),
        )
        for index in range(number)
    )
