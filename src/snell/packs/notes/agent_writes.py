"""
Notice tool calls that write LOCAL.md.

Why      Your LOCAL.md goes to the model with every session. What an agent wrote there would come back as your words.
What     After a call that wrote the file, an approval covers only the bytes that you saw: `snell trust` shows the
         change. The call is recognised by the paths that it names, and by the file's time before and after it.
Instead  Edit LOCAL.md yourself; it is yours as long as no tool call writes it and git does not track it.
"""

import os
from collections import OrderedDict
from functools import lru_cache
from pathlib import Path

from snell.model.context import Context
from snell.model.events import Event
from snell.sdk.decorators import informs
from snell.system.files import Stamp, stamp_of

NOTES = "LOCAL.md"
CALLS = 1_000  # that have begun and whose end was not reported
# Calls that take long because a person or another agent works meanwhile, and those that only read.
_OTHERS = frozenset(("agent", "skill", "read", "search", "web"))
_begun: OrderedDict[tuple[object, object], Stamp | None] = OrderedDict()


def before_a_call(event: Event, context: Context) -> None:
    """Remember the time of LOCAL.md before a call."""
    if context.state is not None and event.kind not in _OTHERS:
        _begun[_key(event)] = stamp_of(_place(context.project_dir or event.cwd))
        if len(_begun) > CALLS:
            _begun.popitem(last=False)


@informs("PostToolUse", "PostToolUseFailure", timeout=3)
def record_write(event: Event, context: Context) -> None:
    """Record that a call wrote LOCAL.md; before the reply, so that no later event gets it first."""
    if context.state is None:
        return
    place, key = _place(context.project_dir or event.cwd), _key(event)
    written = {os.path.dirname(place)} if key in _begun and _begun.pop(key) != stamp_of(place) else set()
    if NOTES.lower() in str(event.tool_input).lower():
        written |= _named_folders(event)
    for folder in written:
        if os.path.isfile(os.path.join(folder, NOTES)):
            from snell.settings.note_trust import record_agent_write  # few calls need it

            record_agent_write(context.state, folder)


def _key(event: Event) -> tuple[object, object]:
    given = event.payload.get  # every call comes here, so that nothing is computed
    return given("session_id"), given("tool_use_id") or event.tool


@lru_cache(maxsize=64)
def _place(folder: str) -> str:
    return os.path.join(folder, NOTES)


def _named_folders(event: Event) -> set[str]:
    """Return the folders of notes that the call names as written."""
    from snell.shell.effects import effects_of  # slow to import

    contents = event.contents
    paths = [*contents.writes, *(new for _old, new in contents.moves)]
    paths += effects_of(event.command).paths if event.command else ()
    full = (Path(event.cwd, os.path.expanduser(path)) for path in paths)
    return {os.path.realpath(path.parent) for path in full if path.name.lower() == NOTES.lower()}
