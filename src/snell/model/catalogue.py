"""
The catalogue: one row per event, with everything that Snell knows about it. A new event is one more row.

Names are Claude Code's. The rows hold what the real client honours (2.1.325); an event that is not listed passes
through with `UNKNOWN`, so that events of newer clients reach hooks without a new version of Snell.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct


class EventRow(Struct, frozen=True):
    name: str
    matches: str = ""  # the payload field that a matcher reads; empty = the event has none
    can: frozenset[str] = frozenset()  # effects that mean something here, by lower-case name
    rewrites: str = ""  # the payload field that a Rewrite replaces
    extras: frozenset[str] = frozenset()  # further output fields of the client that a hook may set
    subject: str = "event"  # what the event is about; sdk/subjects.py has the types
    has_conversation: bool = False  # prompt and agent handlers can work here
    only_bar_separates: bool = False  # a matcher list is split on `|` alone (file names and error codes)
    text_is: str = ""  # what plain text of a command means here: a note, an extra's name, or nothing
    fails_open: bool = False  # a hook that fails here never keeps the agent running: a stop must be possible in the end
    ends_turn: bool = False
    takes_held_notes: bool = False  # notes that wait for the next prompt go out here
    is_too_late: bool = False  # refusing protects nothing: the tool has run, or the context only fills up
    refusal_continues: bool = False  # refusing means that the agent goes on working
    refusal_ends_turn: bool = False  # a prompt hook's refusal ends the turn, unless it has `continue_on_block`
    client_timeout: float = 0.0  # seconds that Claude Code gives every handler here; 0 = the handler's own default
    aliases: tuple[str, ...] = ()  # names that other systems use for the same event


def _row(
    name: str, matches: str, can: str, *, extras: str = "", subject: str, ctx: bool = False, **more: Any
) -> EventRow:
    return EventRow(
        name=name,
        matches=matches,
        can=frozenset(can.split()),
        extras=frozenset(extras.split()),
        subject=subject,
        has_conversation=ctx,
        **more,
    )


CATALOGUE: Mapping[str, EventRow] = {
    row.name: row
    for row in (
        _row(
            "PreToolUse",
            "tool_name",
            "allow ask defer deny rewrite note tell stop",
            rewrites="tool_input",
            subject="tool",
            ctx=True,
            refusal_ends_turn=True,
        ),
        _row(
            "PermissionRequest",
            "tool_name",
            "allow ask deny rewrite tell",  # asking leaves the dialog to the user
            rewrites="tool_input",
            extras="updatedPermissions interrupt",
            subject="tool",
            ctx=True,
        ),
        _row("PermissionDenied", "tool_name", "tell", extras="retry", subject="tool", ctx=True),
        _row(
            "PostToolUse",
            "tool_name",
            "deny rewrite note tell stop",
            rewrites="tool_response",
            extras="classifierContext",
            subject="tool",
            ctx=True,
            is_too_late=True,
            refusal_ends_turn=True,
        ),
        _row("PostToolUseFailure", "tool_name", "deny note tell", subject="tool", ctx=True, is_too_late=True),
        _row("PostToolBatch", "", "deny note tell stop", subject="event", ctx=True, is_too_late=True),
        _row(
            "UserPromptSubmit",
            "",
            "deny rewrite note tell stop",
            rewrites="prompt",
            extras="sessionTitle suppressOriginalPrompt",
            subject="prompt",
            ctx=True,
            text_is="note",
            takes_held_notes=True,
            client_timeout=30.0,
            aliases=("UserPrompt",),
        ),
        _row(
            "UserPromptExpansion",
            "command_name",
            "deny note tell",
            extras="suppressOriginalPrompt",
            subject="prompt",
            ctx=True,
            text_is="note",
        ),
        _row(
            "SessionStart",
            "source",
            "note tell env",
            extras="initialUserMessage sessionTitle watchPaths reloadSkills",
            subject="session",
            text_is="note",
            takes_held_notes=True,
        ),
        _row("SessionEnd", "reason", "tell", subject="session"),
        _row("Setup", "trigger", "note tell env", subject="session"),
        _row(
            "Stop",
            "",
            "deny note tell stop",
            subject="turn",
            ctx=True,
            fails_open=True,
            ends_turn=True,
            refusal_continues=True,
            aliases=("AgentStop",),
        ),
        _row("StopFailure", "error", "", subject="turn", only_bar_separates=True),
        _row("SubagentStart", "agent_type", "note tell", subject="agent"),
        _row(
            "SubagentStop",
            "agent_type",
            "deny note tell stop",
            subject="agent",
            ctx=True,
            fails_open=True,
            ends_turn=True,
            refusal_continues=True,
        ),
        _row("PreCompact", "trigger", "deny note tell", subject="compaction", text_is="note", is_too_late=True),
        _row("PostCompact", "trigger", "tell", subject="compaction"),
        _row("PreModelSwitch", "to_model", "allow ask deny tell", subject="model", client_timeout=30.0),
        _row("PostModelSwitch", "to_model", "note tell", subject="model", text_is="note", client_timeout=30.0),
        _row("Notification", "notification_type", "tell", subject="notification"),
        _row("MessageDisplay", "", "rewrite", rewrites="delta", subject="message", client_timeout=10.0),
        _row("TaskCreated", "", "deny tell", subject="task", ctx=True),
        _row("TaskCompleted", "", "deny tell", subject="task", ctx=True, fails_open=True),
        _row(
            "TeammateIdle",
            "",
            "deny tell stop",
            subject="agent",
            ctx=True,
            fails_open=True,
            refusal_continues=True,
            refusal_ends_turn=True,
        ),
        _row("Elicitation", "mcp_server_name", "deny tell", extras="action content", subject="elicitation"),
        _row(
            "ElicitationResult",
            "mcp_server_name",
            "deny tell",
            extras="action content",
            subject="elicitation",
        ),
        _row("ConfigChange", "source", "deny tell", subject="config"),
        _row("InstructionsLoaded", "load_reason", "", subject="file"),
        _row("CwdChanged", "", "tell env", extras="watchPaths", subject="file"),
        _row("FileChanged", "file_path", "tell env", extras="watchPaths", subject="file", only_bar_separates=True),
        _row("DirectoryAdded", "source", "tell", subject="file"),
        _row("WorktreeCreate", "", "deny tell", extras="worktreePath", subject="worktree", text_is="worktreePath"),
        _row("WorktreeRemove", "", "tell", subject="worktree"),
    )
}

UNKNOWN = EventRow(name="", can=frozenset({"note", "tell"}))

NEVER_BLOCKED_BY_FAILURE = frozenset(row.name for row in CATALOGUE.values() if row.fails_open)
TURN_ENDS = frozenset(row.name for row in CATALOGUE.values() if row.ends_turn)
OTHER_NAMES = dict(sorted((alias, row.name) for row in CATALOGUE.values() for alias in row.aliases))


def row_of(name: str) -> EventRow:
    """Return the row of a canonical event name; `UNKNOWN` for an event that the catalogue does not list."""
    return CATALOGUE.get(name, UNKNOWN)


def can_be_refused(name: str) -> bool:
    """Return whether an event that cannot be checked is refused when a client was set up to fail closed."""
    row = CATALOGUE.get(name)
    return row is None or ("deny" in row.can and not row.fails_open and not row.is_too_late)


def canonical(name: str) -> str:
    """Return the canonical name for PascalCase, camelCase, snake_case or kebab-case; an unknown name as it is."""
    return name if name in CATALOGUE else _BY_FOLDED.get(_fold(name), name)


def nearest(name: str, known: Iterable[str] = CATALOGUE) -> str:
    """Return the known name that is closest to a misspelt one, or an empty string."""
    by_folded = {_fold(each): each for each in known}
    from difflib import get_close_matches  # slow to import, and only needed for mistakes

    found = get_close_matches(_fold(name), by_folded, n=1, cutoff=0.6)
    return by_folded[found[0]] if found else ""


def _fold(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


_BY_FOLDED = {_fold(name): name for name in CATALOGUE} | {_fold(k): v for k, v in OTHER_NAMES.items()}
