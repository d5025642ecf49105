"""
Random sessions: some hooks, some switches, and the events of one session.

Drawn with `random.Random`, not with a strategy library, because a hundred thousand of them must not take long. Each
hook is a fixed function of the event it is shown, so that every order of running it gives the same answers.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any
from zlib import crc32

from snell.handlers.command import Command
from snell.model.decision import Failure, Outcome
from snell.model.effects import Allow, Ask, Defer, Deny, Effect, Env, Extra, Note, Rewrite, Stop, Tell
from snell.model.events import Event
from snell.model.hooks import Hook, Scope, Switches
from snell.model.tools import kind_of

SESSION = "s1"
HOW_MANY_HOOKS = (0, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 7, 8)

# Names of events that go into one session together, and how often.
STORIES = (
    (("PreToolUse",), 8),
    (("PostToolUse",), 4),
    (("UserPromptSubmit",), 3),
    (("PermissionRequest",), 2),
    (("Stop", "UserPromptSubmit"), 4),
    (("Stop", "SubagentStop", "SessionStart"), 3),
    (("PreToolUse", "PostToolUse"), 2),
    (("SessionStart",), 2),
    (("PreModelSwitch", "CwdChanged"), 1),
    (("MessageDisplay", "Notification"), 1),
    (("TaskCompleted", "TeammateIdle"), 1),
    (("PermissionDenied", "FromTomorrow"), 1),
)
VALUES: dict[str, tuple[Any, ...]] = {
    "tool_input": ({"v": 0}, {"v": 1}, {"v": True}, {"v": 2}, {"v": 1, "w": [0]}, {"v": 1, "w": [False]}),
    "prompt": ("p0", "p1", "p2"),
    "tool_response": ("o0", {"v": 0}, {"v": 1}, 1, True, [1]),
    "delta": ("t0", "t1"),
    "": (None,),
}
WRONG_TYPES: dict[str, tuple[Any, ...]] = {"tool_input": ("text", 5, [{}]), "prompt": (5, {"v": 1})}
FIELDS: tuple[dict[str, Any], ...] = ({"v": 0}, {"v": 1}, {"v": True}, {"w": [0]}, {"w": [False]})
TOOLS = (
    ("Bash", "shell_command"),
    ("Bash", "Bash"),
    ("Agent", "Agent"),
    ("Task", "sub"),
    ("mcp__a__b", "b"),
    ("", "b"),
    ("", ""),
)
MATCHERS = (
    (None, None),
    ("*", None),
    ("Bash", None),
    ("Bash|Task, Read", None),
    ("Task", None),
    ("mcp__.*", None),
    ("shell*", None),
    ("Bas", "regex"),
    ("Bash|Task", "exact"),
    ("*_command", "wildcard"),
    ("b", "or"),
    ("nothing at all", "all"),
    ("s.bagent", None),
    ("startup|clear", None),
)
CONDITIONS = ("yes", "no", "odd")
EFFECTS_FOR = {
    None: "rewrite rewrite rewrite rewrite deny deny allow allow ask defer note tell stop env extra",
    "rewrites": "rewrite rewrite rewrite rewrite rewrite note tell deny",
    "judges": "deny deny allow allow allow ask defer note tell stop rewrite",
    "informs": "note note tell env extra deny",
    "watches": "note deny rewrite",
}
EXTRAS = ("terminalSequence", "suppressOutput", "sessionTitle", "classifierContext", "watchPaths", "unheardOf")
FAILURES = ("launch", "timeout", "crash", "output", "cancelled")


@dataclass
class Case:
    hooks: list[Hook]
    answers: Mapping[str, Sequence[Outcome]]
    switches: Switches
    refuses: int | None  # which inputs the tools' schemas refuse; None: no schema is known
    events: list[Event]

    def answer(self, hook: Hook, event: Event) -> Outcome:
        choices = self.answers[hook.id]
        return choices[self.digest(event) % len(choices)]

    def condition(self, rule: str, event: Event) -> bool:
        return rule == "yes" or (rule == "odd" and self.digest(event) % 2 == 1)

    @property
    def validate(self) -> Callable[[str, Any], list[str]] | None:
        return None if self.refuses is None else self.complaints

    def complaints(self, tool: str, value: Any) -> list[str]:
        return ["not like this"] if _number((tool, value)) % 5 == self.refuses else []

    @staticmethod
    def digest(event: Event) -> int:
        return _number((event.rewritable, event.payload["n"]))


def random_session(rng: Random) -> Case:
    """The hooks and events of one session, short as a rule."""
    if rng.random() < 0.01:
        return _stubborn_case(rng)
    names = rng.choices([names for names, _ in STORIES], [weight for _, weight in STORIES])[0]
    return random_case(rng, names, rng.randint(1, 4))


def random_case(rng: Random, names: tuple[str, ...], length: int) -> Case:
    """Some hooks for these events, and so many of the events."""
    hooks = [random_hook(rng, f"h{number}", rng.choice(names)) for number in range(rng.choice(HOW_MANY_HOOKS))]
    return Case(
        hooks=hooks,
        answers={hook.id: _answers(rng, hook) for hook in hooks},
        switches=_switches(rng),
        refuses=rng.randrange(5) if rng.random() < 0.3 else None,
        events=_events(rng, names, length),
    )


def random_hook(rng: Random, hook_id: str, event: str) -> Hook:
    odds = rng.random
    matcher, matcher_type = rng.choice(MATCHERS) if odds() < 0.2 else MATCHERS[0]
    return Hook(
        id=hook_id,
        event=event,
        handler=Command(f"program {rng.randrange(3) if odds() < 0.15 else hook_id}"),
        scope=Scope(rng.choice((0, 0, 1, 2, 2, 2, 3))),
        role=rng.choice((None, None, None, None, "judges", "judges", "rewrites", "rewrites", "informs"))
        if odds() < 0.95
        else "watches",
        matcher=matcher,
        matcher_type=matcher_type,
        kinds=rng.choice((("shell",), ("agent", "shell"), ("mcp",))) if odds() < 0.1 else (),
        condition=rng.choice(CONDITIONS) if odds() < 0.15 else None,
        once=odds() < 0.15,
        is_async=odds() < 0.06,
        force_sync=odds() < 0.3,
        on_failure=rng.choice(("allow", "ask", "block")) if odds() < 0.4 else None,
        enabled=odds() > 0.03,
        session_id=rng.choice((SESSION, "s2")) if odds() < 0.1 else "",
        untrusted="no user approved it" if odds() < 0.03 else "",
    )


def _stubborn_case(rng: Random) -> Case:
    """Hooks that hardly ever let an agent stop, in a session long enough to meet both limits."""
    hooks = [Hook(id=event, event=event, handler=Command("go on")) for event in ("Stop", "SubagentStop")]
    answers = [Outcome(effects=(Deny("~go on"),)), Outcome(effects=(Deny("~more"), Note("~a note"))), Outcome()]
    names = ("Stop", "Stop", "SubagentStop", "UserPromptSubmit")
    given = {hook.id: answers[: rng.randint(1, 3)] for hook in hooks}
    return Case(hooks, given, Switches(), None, _events(rng, names, rng.randint(5, 40)))


def _events(rng: Random, names: tuple[str, ...], length: int) -> list[Event]:
    has_prompt_ids, turn, events = rng.random() < 0.3, 0, []
    for _ in range(length):
        turn += rng.random() < 0.25
        event = _event(rng, rng.choice(names))
        if has_prompt_ids:
            event.payload["prompt_id"] = f"prompt {turn}"
        events.append(event)
    return events


def _event(rng: Random, name: str) -> Event:
    tool, tool_name = rng.choice(TOOLS) if rng.random() < 0.3 else TOOLS[0]
    empty = Event(name=name, payload={})
    payload: dict[str, Any] = {"session_id": SESSION, "n": int(rng.random() < 0.2)}
    if empty.row.rewrites:
        payload[empty.row.rewrites] = rng.choice(VALUES[empty.row.rewrites])
    if name == "SessionStart":
        payload["source"] = rng.choice(("startup", "resume", "clear"))
    if name == "SubagentStop":
        payload |= {"agent_id": rng.choice(("a1", "a2")), "agent_type": "subagent"}
    if empty.row.matches != "tool_name":
        return Event(name=name, payload=payload)
    kind = kind_of(tool) or rng.choice(("", "mcp"))  # a client may know the kind of a tool that Claude Code lacks
    return Event(name=name, payload=payload, tool=tool, tool_name=tool_name, kind=kind)


def _answers(rng: Random, hook: Hook) -> list[Outcome]:
    return [_outcome(rng, hook, number) for number in range(rng.randint(1, 5))]


def _outcome(rng: Random, hook: Hook, number: int) -> Outcome:
    failure = Failure(rng.choice(FAILURES), "it broke") if rng.random() < 0.12 else None
    if failure and rng.random() < 0.7:
        return Outcome(failure=failure)
    names = EFFECTS_FOR[hook.role].split()
    count = rng.choice((0, 1, 1, 1, 2, 3))
    field = Event(name=hook.event, payload={}).row.rewrites
    effects = [_effect(rng, rng.choice(names), field, f"~{hook.id}.{number}.{place}") for place in range(count)]
    return Outcome(effects=tuple(_at_most_one_of_a_kind(effects)), failure=failure)


def _at_most_one_of_a_kind(effects: list[Effect]) -> list[Effect]:
    """Two rewrites, or two values for one variable, contradict each other; no rule says which one wins."""
    only_one = (Rewrite, Env, Extra)
    earlier: list[type] = []
    kept = []
    for effect in effects:
        if not (isinstance(effect, only_one) and type(effect) in earlier):
            kept.append(effect)
        earlier.append(type(effect))
    return kept


def _effect(rng: Random, name: str, field: str, text: str) -> Effect:
    if name == "rewrite":
        return _rewrite(rng, field)
    if name == "deny":
        return Deny(text, instead=f"~instead of {text}" if rng.random() < 0.3 else "")
    if name == "env":
        return Env({rng.choice("AB"): text, "C": text})
    if name == "extra":
        return Extra(rng.choice(EXTRAS), text)
    plain: dict[str, Any] = {"allow": Allow, "ask": Ask, "defer": Defer, "note": Note, "tell": Tell, "stop": Stop}
    effect: Effect = plain[name](text)
    return effect


def _rewrite(rng: Random, field: str) -> Rewrite:
    if field in WRONG_TYPES and rng.random() < 0.08:
        return Rewrite(rng.choice(WRONG_TYPES[field]))
    if field in ("tool_input", "tool_response") and rng.random() < 0.4:
        return Rewrite(**rng.choice(FIELDS))
    return Rewrite(rng.choice(VALUES[field]) if field else {"v": 0})


def _switches(rng: Random) -> Switches:
    if rng.random() < 0.75:
        return Switches()
    return Switches(
        disable_all_hooks=rng.random() < 0.3,
        policy_disables_all=rng.random() < 0.1,
        allow_managed_hooks_only=rng.random() < 0.3,
        rewrites_from="policy" if rng.random() < 0.6 else "",
        order="sequential" if rng.random() < 0.4 else "together",
    )


def _number(value: Any) -> int:
    return crc32(json.dumps(value, sort_keys=True).encode())
