"""
Give the model your notes.

Why      What you told the last session is lost in the next one, and half of it after a compaction.
What     LOCAL.md (yours, then the project's, after `snell trust`) comes with the first prompt of a session and when you
         say `continue`; your rules and RECLAUDE.md come with a compaction and right after it. A client that does not
         accept text with a prompt gets it with the next event that carries some; Goose and Windsurf have none.
Instead  Empty the files, or disable `notes`.
"""

import re

from snell.model.context import Context
from snell.model.effects import Note
from snell.model.events import Event
from snell.packs.notes.note_files import local_notes, restore_notes
from snell.sdk.decorators import informs
from snell.sdk.subjects import Prompt, Session
from snell.sdk.words import tokenize

FIRST, LOST = "notes/first_prompt", "notes/compacted"
LONGEST = 10_000  # characters of a prompt that are searched


@informs("UserPromptSubmit", timeout=3)
def with_a_prompt(prompt: Prompt, event: Event, context: Context) -> Note | None:
    """Add LOCAL.md to the first prompt of a session, and to a prompt that asks for it."""
    scope = f"session:{event.session_id}"
    is_first = not context.marks.get(scope, FIRST)
    is_restoring = bool(context.marks.get(scope, LOST))
    if is_first:
        context.marks.put(scope, FIRST, True)
    if is_restoring:
        context.marks.drop(scope, LOST)
    asks = asks_for_notes(prompt.text, context.options.get("triggers", ()))
    parts = local_notes(event.cwd, context) if is_first or asks or is_restoring else []
    if asks or is_restoring:
        parts += restore_notes(context)
    return _note(parts + (rules(context) if is_restoring else []))


REMEMBERED = 1_000
_Searched = tuple[object, ...]
_without_notes: set[_Searched] = set()  # sessions without notes, and where they were searched


@informs("PreToolUse", timeout=3)
def with_the_first_call(event: Event, context: Context) -> Note | None:
    """Add LOCAL.md to the first tool call, in a client that does not report prompts."""
    scope = f"session:{event.session_id}"
    searched = (
        event.session_id,
        event.cwd,
        context.project_dir,
        context.config,
        context.env.get("HOME"),
        context.trusts_notes,
    )
    if searched in _without_notes or context.marks.get(scope, FIRST):
        return None
    found = local_notes(event.cwd, context)
    if not found:  # the usual case must be fast: storing a mark takes as long as the rest of the reply
        if len(_without_notes) >= REMEMBERED:
            _without_notes.clear()
        _without_notes.add(searched)
        return None
    context.marks.put(scope, FIRST, True)
    return _note(found)


@informs("PreCompact", timeout=3)
def before_compaction(event: Event, context: Context) -> Note | None:
    """Add what the summary must keep; clients that cannot take it get it with the next prompt."""
    context.marks.put(f"session:{event.session_id}", LOST, True)
    kept = restore_notes(context)
    keep = ["Keep these rules, and what the project's own instructions say, word for word."] if kept else []
    return _note([*local_notes(event.cwd, context), *kept, *keep, *rules(context)])


@informs("SessionStart", matcher="compact", timeout=3)
def after_compaction(session: Session, event: Event, context: Context) -> Note | None:
    """Repeat the notes and rules after a compaction."""
    context.marks.drop(f"session:{event.session_id}", LOST)
    return _note([*local_notes(event.cwd, context), *restore_notes(context), *rules(context)])


def asks_for_notes(prompt: str, triggers: object) -> bool:
    """Whether a prompt contains a trigger that is not negated."""
    if not isinstance(triggers, list | tuple):
        return False
    wanted = {_plain(each) for each in triggers if isinstance(each, str) and each.strip()}
    words = {_plain(word.text) for word in tokenize(prompt[:LONGEST]) if not word.is_negated}
    if not words.isdisjoint(wanted):
        return True
    phrases, text = (each for each in wanted if " " in each), _plain(prompt[:LONGEST])
    return any(re.search(rf"(?<!\w){re.escape(each)}(?!\w)", text) for each in phrases)


def _plain(text: str) -> str:
    return text.lower().replace("’", "").replace("'", "")


def rules(context: Context) -> list[str]:
    """Return the user's rules as one text."""
    given = context.options.get("rules", ())
    lines = [f"- {each}" for each in given if isinstance(each, str) and each.strip()]
    return ["Rules:\n" + "\n".join(lines)] if lines else []


def _note(parts: list[str]) -> Note | None:
    return Note("\n\n".join(parts)) if parts else None
