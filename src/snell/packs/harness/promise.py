"""
Continue until the promise is kept.

Why      Agents stop early: half the work is done, and the last message says that it is complete.
What     `snell loop start --promise TEXT`, or `/harness OBJECTIVE` as a prompt (in Codex `$harness OBJECTIVE`): at each
         stop the agent is sent back with its objective, until its last message contains the promise or its iterations
         are used up.
Instead  `snell loop stop`: a user can always end it. Nothing happens in a session without a loop.
"""

import json
import re
from pathlib import Path
from typing import Any

from msgspec import Struct, ValidationError, convert, to_builtins
from msgspec.structs import replace

from snell.model.context import Context
from snell.model.effects import Deny, Note, Tell
from snell.model.events import Event, persistent_scope
from snell.model.protocols import Store
from snell.redact import redact
from snell.sdk.decorators import informs, judges
from snell.sdk.subjects import Prompt, Turn
from snell.settings.locate import MISSION
from snell.system.files import text_or_nothing
from snell.system.lazy_regex import lazy_regex
from snell.system.transcripts import conversation
from snell.work.supervisor_state import SUPERVISOR, ask_for_restart, take_over

MARK = "harness/loop"


class Loop(Struct, frozen=True):
    """A loop: the agent may stop when its last message contains the promise, or when its iterations are used up."""

    promise: str
    objective: str = ""
    most: int = 10
    iteration: int = 0
    in_a_row: int = 0  # stops that were held up since the last prompt; clients have a cap on these


def loop_of(session_id: str, marks: Store) -> Loop | None:
    kept: Any = marks.get(persistent_scope(session_id), MARK)
    try:
        return convert(kept, Loop) if isinstance(kept, dict) else None
    except ValidationError:
        return None


def save_loop(session_id: str, loop: Loop, marks: Store) -> None:
    marks.put(persistent_scope(session_id), MARK, to_builtins(loop))


def end_loop(session_id: str, marks: Store) -> None:
    marks.drop(persistent_scope(session_id), MARK)


# As it was typed, which Droid puts into a tag; Copilot puts it into the text of the skill that `snell setup` wrote.
COMMAND = lazy_regex(
    r"""\A\s*(?:<system-notification>\s*)?[/$]harness\s+(?P<typed>(?!</system-)\S.*?)\s*(?:</system-notification>|\Z)|"""
    r"""\AThe user explicitly invoked the "/harness" skill\b.*?\n/harness\s+(?P<filled>\S.*?)\s*</skill-context>""",
    re.DOTALL,
)
# Consecutive stops, without a tool call between them, that a client lets a hook hold up.
CAPS = {"claude_code": 8, "grok": 8}
LATE = ("copilot",)  # at a stop it has not written the last message yet; the next stop shows it
CAP_VARIABLES = {"claude_code": "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"}  # the user's setting; 0 is no cap
LARGEST = 20_000
LONGEST_OBJECTIVE = 2_000
TAIL = 400_000  # characters of a transcript


@judges("Stop")
def require_promise(turn: Turn, event: Event, context: Context) -> Deny | Tell | None:
    """Send the agent back while its promise is not kept; report how the loop ended."""
    loop = loop_of(event.session_id, context.marks)
    message = (turn.last_message or _last_message(event.transcript_path)) if loop else ""
    if not loop or (not message.strip() and event.client not in LATE):
        return None
    if ending := _ending(loop, message):
        end_loop(event.session_id, context.marks)
        return Tell(ending)
    if mission_of(event.cwd).get("status") == "PLANNING":
        return Tell("the mission is still being planned: approve its plan, then let the agent continue")
    cap = _cap(event.client, context)
    if cap and loop.in_a_row >= cap:
        return Tell(_on_cap(cap, loop, event, context))
    loop = replace(loop, iteration=loop.iteration + 1, in_a_row=loop.in_a_row + 1)
    save_loop(event.session_id, loop, context.marks)
    return Deny(continuation(loop, event.cwd, context))


def _last_message(transcript: str) -> str:
    """Return the agent's last message, for a client that does not send it; empty if it is unknown."""
    said = (each["text"] for each in reversed(conversation(transcript, TAIL)) if each["role"] == "assistant")
    return next(said, "")


def _ending(loop: Loop, message: str) -> str:
    if loop.promise in message:
        return f"the promise is kept after {loop.iteration} more iterations: the loop has ended"
    if loop.iteration >= loop.most:
        return f"the loop stops: {loop.most} iterations are used up, and the agent did not write `{loop.promise}`"
    return ""


def _cap(client: str, context: Context) -> int:
    """Return how many consecutive stops of this client can be held up; 0 if it has no cap."""
    default = CAPS.get(client, 0)
    try:
        return max(0, int(context.env.get(CAP_VARIABLES.get(client, ""), default)))
    except ValueError:
        return default


def _on_cap(cap: int, loop: Loop, event: Event, context: Context) -> str:
    """Ask a supervisor for a new window: the client would end the turn now whatever a hook replies."""
    ended = f"this client ends a turn after hooks have prevented {cap} stops in a row"
    if not context.env.get(SUPERVISOR):
        return f"{ended}, and the agent did not write `{loop.promise}`: send a prompt to go on, or use `snell run`"
    loop = replace(loop, iteration=loop.iteration + 1)
    save_loop(event.session_id, loop, context.marks)
    ask_for_restart(event, context.marks, context.env, "loop", continuation(loop, event.cwd, context))
    return f"{ended}; `snell run` continues the loop in a new window"


@informs("SessionStart")
def continue_loop(event: Event, context: Context) -> Note | None:
    """Continue the loop of a window that `snell run` replaced."""
    if not take_over(event, context.marks, context.env, MARK):
        return None
    _reset_count(event, context)
    loop = loop_of(event.session_id, context.marks)
    return Note(continuation(loop, event.cwd, context)) if loop else None


@informs("PostToolUse", "PostToolUseFailure")
def reset_stop_count(event: Event, context: Context) -> None:
    """Reset the count of prevented stops, as the client does with every tool call."""
    _reset_count(event, context)


def _reset_count(event: Event, context: Context) -> None:
    loop = loop_of(event.session_id, context.marks)
    if loop and loop.in_a_row:
        save_loop(event.session_id, replace(loop, in_a_row=0), context.marks)


@informs("UserPromptSubmit")
def start_loop(prompt: Prompt, event: Event, context: Context) -> Note | None:
    """Start a loop for `/harness OBJECTIVE`; any prompt resets the count of prevented stops."""
    if not (found := COMMAND.match(prompt.text)):
        _reset_count(event, context)
        _set_objective(prompt.text.strip(), event, context)
        return None
    objective = found["typed"] or found["filled"]
    loop = Loop(str(context.options.get("promise")), objective, int(context.options.get("most_iterations", 10)))
    save_loop(event.session_id, loop, context.marks)
    return Note(
        f"Work on this until it is done: {objective}\nWhen everything is done and checked, and not before, end your"
        f" last message with {loop.promise}. You will be sent back until then, {loop.most} times at most."
    )


def _set_objective(prompt: str, event: Event, context: Context) -> None:
    """Make the next prompt the objective of a loop that has none."""
    loop = loop_of(event.session_id, context.marks)
    if loop and not loop.objective and prompt:
        save_loop(event.session_id, replace(loop, objective=redact(prompt)[:LONGEST_OBJECTIVE]), context.marks)


def continuation(loop: Loop, cwd: str, context: Context) -> str:
    """Return the text for an agent that is sent back."""
    objective = f"The objective: {loop.objective}" if loop.objective else "The objective is what you were asked to do."
    lines = [
        f"Iteration {loop.iteration}/{loop.most}: the work is not finished, you did not write `{loop.promise}`.",
        objective,
        "Check what exists already and continue from there; do not start over. Say what is still missing, and do it.",
        f"End your last message with {loop.promise} when everything is done and checked.",
    ]
    return "\n".join([*lines, *_mission(cwd, context)])


def _mission(cwd: str, context: Context) -> list[str]:
    """Return the project's mission and its progress, as instructions: the user has approved it."""
    if not context.trusts_mission:
        return []
    mission = mission_of(cwd)
    texts = {
        "The mission of this project (mission.json)": json.dumps(mission, ensure_ascii=False) if mission else "",
        "Its progress so far (mission_progress.txt)": _text(cwd, "mission_progress.txt"),
    }
    return [f"{title}:\n{text}" for title, text in texts.items() if text]


def mission_of(cwd: str) -> dict[str, Any]:
    """Return the mission file of a folder; empty if there is none."""
    try:
        found = json.loads(_text(cwd, MISSION) or "{}")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _text(cwd: str, name: str) -> str:
    # Links in a project are not followed: they could lead to anything that its owner can read.
    return text_or_nothing(Path(cwd, name), LARGEST, follow_links=False).strip() if cwd else ""
