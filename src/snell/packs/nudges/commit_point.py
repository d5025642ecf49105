"""
Ask for a commit at the end of a turn.

Why      Uncommitted work is lost by the next mistake.
What     When a turn ends with changes to tracked files, the agent gets the list of changes once and is asked to commit
         (`commit_point = "script"`), or the model of `[model]` reads the list and advises (`"model"`).
Instead  `commit_point = "off"`, which is the default. It reminds at most every `commit_point_every` seconds, never
         twice of the same changes in a session, and never after the client reports that it already held up a stop.
"""

import time

from snell.llm.client import answer_in_pack
from snell.llm.messages import Message, ModelError, Question
from snell.llm.untrusted_text import RULES, fence
from snell.llm.verdict_answers import outcome_of_text
from snell.model.context import Context
from snell.model.effects import Deny, Note, Tell
from snell.model.errors import HookError
from snell.model.events import Event
from snell.sdk.decorators import informs, judges
from snell.sdk.subjects import Turn
from snell.system.git_readonly import changed_files

MARK = "nudges/commit_point"
MODEL_LIMIT = 15.0
_SYSTEM = (
    f"You advise a coding agent that has just finished a turn. {RULES} Is this a good point for a commit? Answer with "
    'one JSON object and nothing else: {"nudge": "what to commit and why, in one or two sentences"} if it is, or '
    '{"pass": true} if it is not.'
)


@judges("Stop", when={"commit_point": "script"}, waits=True)
def ask_for_commit(turn: Turn, event: Event, context: Context) -> Deny | None:
    """Ask for a commit when a turn ends with tracked changes."""
    stat = _changes(turn, event, context)
    instead = "commit them if this is a good point, else say why not"
    return Deny(f"there are uncommitted changes:\n{stat}", instead=instead) if stat else None


@informs("Stop", when={"commit_point": "model"}, waits=True, timeout=MODEL_LIMIT + 5)
def ask_model_about_commit(turn: Turn, event: Event, context: Context) -> list[Note | Tell]:
    """Ask a model whether to commit when a turn ends with tracked changes."""
    stat = _changes(turn, event, context)
    if not stat:
        return []
    question = Question(_SYSTEM, (Message("user", fence(stat, "git diff --stat")),), begins="{")
    try:
        answer = answer_in_pack(question, event, MODEL_LIMIT)
    except ModelError as error:
        raise HookError(str(error)) from None
    # It may only advise, whatever else it answers.
    return [each for each in outcome_of_text(answer, event, begins="{").effects if isinstance(each, Note | Tell)]


def _changes(turn: Turn, event: Event, context: Context) -> str:
    """Return what changed, if a reminder is due, and note that it was given."""
    if turn.is_continuation or not event.cwd:
        return ""
    scope, now = f"project:{context.project_dir or event.cwd}", time.time()
    last = context.marks.get(scope, MARK)
    if isinstance(last, int | float) and 0 <= now - last < context.options.get("commit_point_every", 600):
        return ""
    stat, session = changed_files(event.cwd), f"session:{event.session_id}"
    if not stat or context.marks.get(session, MARK) == stat:
        return ""  # a client that does not report continuations would loop
    context.marks.put(scope, MARK, now)
    context.marks.put(session, MARK, stat)
    return stat
