"""Start efforts from an agent's calls: the skill `effort`, or a phase command that names its task."""

import json
import re
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from snell.model.context import Context
from snell.model.effects import Deny, Note
from snell.model.errors import SnellError
from snell.model.events import Event
from snell.model.protocols import Transaction
from snell.packs.sessions.caller import IN_USE, skill_reader
from snell.sdk.subjects import SkillCall, call_of
from snell.system.lazy_regex import lazy_regex
from snell.work import artefacts, effort_commands, phases, projects, skills
from snell.work.rows import Record

USAGE = "use `start TASK SKILL [MODE]`, `resume [NUMBER]` or `log TEXT`"
_PHASE = lazy_regex(
    r"\s*(?:snell\s+phase|engine\s+session\s+phase)\s+(\S+)[^\n]*<<-?\s*['\"]?(\w+)['\"]?\n(.*)\n\2\s*", re.DOTALL
)


def run_effort_skill(event: Event, context: Context) -> Deny | list[Note] | None:
    """Execute the skill `effort`; a mistake is refused with its usage."""
    call = call_of(event)
    if not isinstance(call, SkillCall) or not (call.skill == "effort" or call.skill.endswith(":effort")):
        return None
    verb, _, rest = call.args.strip().partition(" ")
    try:
        text = _VERBS[verb](event, context, rest.strip()) if verb in _VERBS else ""
    except SnellError as error:
        return Deny(str(error), instead=USAGE)
    return [Note(text)] if text else Deny(f"the skill `effort` has no command `{verb[:40]}`", instead=USAGE)


def create_by_phase(event: Event, context: Context) -> None:
    """Start the effort of a phase command whose proof names a task, with the skill that has such a phase."""
    command = str(event.tool_input.get("command") or "")
    found = _PHASE.fullmatch(command) if "phase" in command else None
    if found is None or context.database is None:
        return
    with suppress(ValueError, RecursionError, SnellError):
        proof = json.loads(found[3])
        name = proof.get("taskName") if isinstance(proof, dict) else None
        if isinstance(name, str) and name.strip():
            named, label = proof.get("skill"), found[1].strip("'\"")
            skill = (
                named
                if isinstance(named, str) and named
                else context.database.run(lambda tx: _skill_with(tx, event.cwd, label))
            )
            _run(context, event, _start_effort(context), name, skill)


def _skill_with(tx: Transaction, cwd: str, label: str) -> str:
    """Return the skill of this project that has a phase of this label; `work` if none has."""
    project = projects.find_enclosing(tx, cwd)
    for each in skills.list_(tx, project["id"]) if project else ():
        if label in [phase["label"] for phase in phases.list_phases(each["phases"])]:
            return str(each["name"])
    return "work"


def _start(event: Event, context: Context, rest: str) -> str:
    words = rest.split()
    if not 2 <= len(words) <= 3:
        raise SnellError("name a task and a skill")
    made = _run(context, event, _start_effort(context), *words)
    return _summary(made, "continues" if made["resumed"] else "starts")


def _start_effort(context: Context) -> Callable[..., Record]:
    return partial(effort_commands.start_effort, read_skill=skill_reader(context))


def _resume(event: Event, context: Context, rest: str) -> str:
    if rest and not rest.isdecimal():
        raise SnellError(f"`{rest[:40]}` is not the number of an effort")
    made = _run(context, event, effort_commands.resume_effort, int(rest) if rest else None)
    return _summary(made, "continues")


def _log(event: Event, context: Context, rest: str) -> str:
    if not rest:
        raise SnellError("the text to log is missing")
    assert context.database is not None  # checked by the caller
    agent = context.env.get("AGENT_ID", "")
    place = context.database.run(lambda tx: effort_commands.locate_log(tx, event.cwd, agent))
    artefacts.append(place["path"], artefacts.stamp_heading(rest))
    context.database.run(lambda tx: effort_commands.reset_heartbeat(tx, place["effortId"]))
    context.marks.put(*IN_USE, True)
    return f"Logged in `{place['path']}`."


def _run(context: Context, event: Event, command: Callable[..., Record], *given: Any) -> Record:
    """Start or resume an effort for the window of an event."""
    assert context.database is not None  # checked by the caller
    agent, window = context.env.get("AGENT_ID", ""), event.session_id or None
    made = context.database.run(lambda tx: command(tx, event.cwd, agent, *given, client_session_id=window))
    context.marks.put(*IN_USE, True)
    return made


def _summary(made: Record, verb: str) -> str:
    effort, session = made["effort"], made["session"]
    declared = phases.list_phases(effort["metadata"].get("phases"))
    phase = effort["currentPhase"] or (phases.phase_label(declared[0]) if declared else "")
    log = artefacts.path_of(effort, "LOG")
    lines = [
        f"## Effort {effort['id']} {verb}",
        f"- skill: {effort['skill']}",
        f"- session: {session['id']}",
        f"- log: `{log}`",
    ]
    return "\n".join([*lines, *([f"- phase: {phase}"] if phase else [])])


_VERBS = {"start": _start, "resume": _resume, "log": _log}
