"""
The skills that run in a session: which event starts one, which ends it, and its hooks meanwhile.

A skill starts by its tool call, by a prompt that names it (`/name`), or as the agent of a sub-agent; where a client has
no tool for it, by a call that reads its SKILL.md. A hook that refuses this event keeps it from starting. It ends with
the turn that started it, and what a sub-agent started with that sub-agent. The list of what runs is a mark of the
session, so that a restart of the daemon changes nothing.
"""

import os
from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from snell.clients import CLIENTS, client_named
from snell.model.context import Context
from snell.model.decision import Decision, Reason
from snell.model.effects import Verdict
from snell.model.events import Event, session_scope, text_in
from snell.model.hooks import Hook
from snell.sdk.subjects import SkillCall, call_of
from snell.settings.skill_files import DOCUMENT, known_skills, skill_named
from snell.settings.skill_folders import Kind
from snell.system.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from snell.settings.skill_hooks import SkillHooks

MARK = "skills/running"
LONGEST_PROMPT = 20_000
# `/name`, `/skill:name` and `/skills name` at the beginning; Codex has `$name` and Windsurf `@name` anywhere.
# With Copilot's words for a skill that the user starts.
_NAMES = lazy_regex(
    r"""\A\s*(?:The user explicitly invoked the ")?/(?:skills?\s+)?([\w:.-]+)|(?<!\S)[$@]([\w:.-]*\w)"""
)

_DOCUMENTS = lazy_regex(rf"[^\s'\"=<>|;&()]*/{DOCUMENT}(?![\w.])")

LoadSkill = Callable[["RunningSkill", Event], "SkillHooks"]


class RunningSkill(Struct, frozen=True):
    path: str
    run: str  # the decision that started it; its `once` hooks may run again when the skill is started again
    agent: str = ""  # the sub-agent that started it, or that it is; empty: the hooks are for the whole session
    call: str = ""  # the tool call that started it
    is_agent: bool = False


def hooks_of(running: Any, event: Event, load: LoadSkill) -> Iterator[Hook]:
    """Yield the hooks of the skills that run, for an event; a call without a sub-agent's id may be any sub-agent's."""
    for each in _skills_in_mark(running):
        if not each.agent or event.agent_id in ("", each.agent):
            yield from (replace(hook, group=f"skill:{each.run}") for hook in load(each, event).hooks)


def may_start_skill(event: Event) -> bool:
    """Return whether this is a call of the tool for skills, or one that may read the document of a skill."""
    return event.kind == "skill" or (event.kind in skill_kinds(event.client) and DOCUMENT in str(event.tool_input))


@cache
def skill_kinds(client: str) -> frozenset[str]:
    """Return the kinds of calls that may start a skill: in some clients the model only reads the skill's document."""
    opens = client in CLIENTS and client_named(client).install.opens_skills
    return frozenset(("skill", "read", "shell") if opens else ("skill",))


def follow(decision: Decision, context: Context, load: LoadSkill) -> list[Reason]:
    """Note which skills start and end with an event; returns why hooks of a skill that starts have no effect."""
    event, told = decision.event, []
    before = _skills_in_mark(context.marks.get(session_scope(event), MARK))
    now = [each for each in before if not _ends(each, decision)]
    if not (decision.verdict is Verdict.DENY or decision.stop is not None):
        for each in _named_by(event, context):
            if not any((each.path, each.agent) == (other.path, other.agent) for other in now):
                found = load(each, event)
                now += [each] if found.hooks else []
                told += [str(problem) for problem in found.problems]
                told += [f"{hook.source}: it has no effect: {hook.untrusted}" for hook in found.hooks if hook.untrusted]
    if now != before:
        context.marks.put(session_scope(event), MARK, msgspec.to_builtins(now))
    return [Reason("snell", f"snell: {text}") for text in told]


def _skills_in_mark(value: Any) -> list[RunningSkill]:
    try:
        return msgspec.convert(value or [], list[RunningSkill])
    except msgspec.ValidationError:
        return []  # of another version


def _ends(skill: RunningSkill, decision: Decision) -> bool:
    """Return whether an event ends a skill; a turn that a hook sends back goes on."""
    event = decision.event
    match event.name:
        case "UserPromptSubmit":  # a turn that the user interrupted has no end of its own
            return not skill.agent
        case "SessionStart":
            return text_in(event.payload, "source") != "compact"
        case "Stop" | "StopFailure":
            is_over = decision.verdict is not Verdict.DENY or decision.stop is not None
            return is_over and skill.agent == event.agent_id
        case "SubagentStop":
            who = _sub_agent(event)
            return decision.verdict is not Verdict.DENY and (skill.agent == who if who else skill.is_agent)
        case "PostToolUseFailure" | "PermissionDenied":
            return bool(skill.call) and skill.call == event.tool_use_id
    return False


def _sub_agent(event: Event) -> str:
    return event.agent_id or text_in(event.payload, "agent_type")


def _named_by(event: Event, context: Context) -> Iterator[RunningSkill]:
    """Yield the skills that an event starts: the user's own, and those of the project if it is trusted."""
    names, kind = _names_in(event)
    if not any(names):
        return
    known = known_skills(context, event.cwd, kind)
    is_agent = kind == "agents"
    agent = (_sub_agent(event) or "agent") if is_agent else event.agent_id
    for found in filter(None, (skill_named(name, known) for name in dict.fromkeys(names))):
        yield RunningSkill(found.path, context.decision_id, agent, event.tool_use_id, is_agent)


def _names_in(event: Event) -> tuple[list[str], Kind]:
    match event.name:
        case "SubagentStart":
            return [text_in(event.payload, "agent_type")], "agents"
        case "UserPromptSubmit":
            found = _NAMES.findall(event.prompt[:LONGEST_PROMPT])
            return [one or other for one, other in found], "skills"
        case "UserPromptExpansion":
            return [text_in(event.payload, "command_name").lstrip("/")], "skills"
        case "PreToolUse":
            call = call_of(event)
            return [call.skill] if isinstance(call, SkillCall) else list(_documents_in(event)), "skills"
    return [], "skills"


def _documents_in(event: Event) -> Iterator[str]:
    """Yield the SKILL.md files that a call names, in a client whose model starts a skill by reading it."""
    if "read" in skill_kinds(event.client):
        for value in filter(lambda value: isinstance(value, str), (event.command, *event.tool_input.values())):
            for path in _DOCUMENTS.findall(value[:LONGEST_PROMPT]):
                yield os.path.join(event.cwd or "/", os.path.expanduser(path))
