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
    extras: frozenset[str] = frozenset()  # further output fields that a hook may set; each client knows their types
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
    registered_for: str = ""  # set-up registers this event only while a hook for that event is active; empty = always


def _row(
    name: str, matches: str, can: str, subject: str, flags: str = "", *, extras: str = "", **more: Any
) -> EventRow:
    """Return a row; `can`, `extras` and `flags` are words. Flags are true fields; `ctx` is `has_conversation`."""
    more |= {word if word != "ctx" else "has_conversation": True for word in flags.split()}
    return EventRow(name, matches, frozenset(can.split()), extras=frozenset(extras.split()), subject=subject, **more)


_ROWS = (
    _row(
        "PreToolUse",
        "tool_name",
        "allow ask defer deny rewrite note tell stop",
        "tool",
        "ctx refusal_ends_turn",
        rewrites="tool_input",
    ),
    _row(
        "PermissionRequest",
        "tool_name",
        "allow ask deny rewrite tell",  # asking leaves the dialog to the user
        "tool",
        "ctx",
        rewrites="tool_input",
        extras="updatedPermissions interrupt",
    ),
    _row("PermissionDenied", "tool_name", "tell", "tool", "ctx", extras="retry"),
    _row(
        "PostToolUse",
        "tool_name",
        "deny rewrite note tell stop",
        "tool",
        "ctx is_too_late refusal_ends_turn",
        rewrites="tool_response",
        extras="classifierContext",
    ),
    _row("PostToolUseFailure", "tool_name", "deny note tell", "tool", "ctx is_too_late"),
    # Sent many times a turn, like MessageDisplay, and no pack uses it.
    _row("PostToolBatch", "", "deny note tell stop", "event", "ctx is_too_late", registered_for="PostToolBatch"),
    _row(
        "UserPromptSubmit",
        "",
        "deny rewrite note tell stop",
        "prompt",
        "ctx takes_held_notes",
        rewrites="prompt",
        extras="sessionTitle suppressOriginalPrompt",
        text_is="note",
        client_timeout=30.0,
        aliases=("UserPrompt",),
    ),
    _row(
        "UserPromptExpansion",
        "command_name",
        "deny note tell",
        "prompt",
        "ctx",
        extras="suppressOriginalPrompt",
        text_is="note",
    ),
    _row(
        "SessionStart",
        "source",
        "note tell env",
        "session",
        "takes_held_notes",
        extras="initialUserMessage sessionTitle watchPaths reloadSkills",
        text_is="note",
    ),
    _row("SessionEnd", "reason", "tell", "session"),
    _row("Setup", "trigger", "note tell env", "session"),
    _row(
        "Stop", "", "deny note tell stop", "turn", "ctx fails_open ends_turn refusal_continues", aliases=("AgentStop",)
    ),
    _row("StopFailure", "error", "", "turn", "only_bar_separates"),
    _row("SubagentStart", "agent_type", "note tell", "agent"),
    _row("SubagentStop", "agent_type", "deny note tell stop", "agent", "ctx fails_open ends_turn refusal_continues"),
    _row("PreCompact", "trigger", "deny note tell", "compaction", "is_too_late", text_is="note"),
    _row("PostCompact", "trigger", "tell", "compaction"),
    _row("PreModelSwitch", "to_model", "allow ask deny tell", "model", client_timeout=30.0),
    _row("PostModelSwitch", "to_model", "note tell", "model", text_is="note", client_timeout=30.0),
    _row("Notification", "notification_type", "tell", "notification"),
    _row(
        "MessageDisplay",
        "",
        "rewrite",
        "message",
        rewrites="delta",
        client_timeout=10.0,
        registered_for="MessageDisplay",
    ),
    _row("TaskCreated", "", "deny tell", "task", "ctx"),
    _row("TaskCompleted", "", "deny tell", "task", "ctx fails_open"),
    _row("TeammateIdle", "", "deny tell stop", "agent", "ctx fails_open refusal_continues refusal_ends_turn"),
    _row("Elicitation", "mcp_server_name", "deny tell", "elicitation", extras="action content"),
    _row("ElicitationResult", "mcp_server_name", "deny tell", "elicitation", extras="action content"),
    _row("ConfigChange", "source", "deny tell", "config"),
    _row("InstructionsLoaded", "load_reason", "", "file"),
    _row("CwdChanged", "", "tell env", "file", extras="watchPaths"),
    _row("FileChanged", "file_path", "tell env", "file", "only_bar_separates", extras="watchPaths"),
    _row("DirectoryAdded", "source", "tell", "file"),
    # An entry for these replaces git's own worktrees, so they are for hooks that create worktrees.
    _row(
        "WorktreeCreate",
        "",
        "deny tell",
        "worktree",
        extras="worktreePath",
        text_is="worktreePath",
        registered_for="WorktreeCreate",
    ),
    _row("WorktreeRemove", "", "tell", "worktree", registered_for="WorktreeCreate"),
)

CATALOGUE: Mapping[str, EventRow] = {row.name: row for row in _ROWS}

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
    return name if name in CATALOGUE else _BY_FOLDED.get(fold_name(name), name)


def nearest(name: str, known: Iterable[str] = CATALOGUE) -> str:
    """Return the known name that is closest to a misspelt one, or an empty string."""
    by_folded = {fold_name(each): each for each in known}
    from difflib import get_close_matches  # slow to import, and only needed for mistakes

    found = get_close_matches(fold_name(name), by_folded, n=1, cutoff=0.6)
    return by_folded[found[0]] if found else ""


def did_you_mean(name: str, known: Iterable[str] = CATALOGUE, otherwise: str = "") -> str:
    """Return the advice for a misspelt name: the closest known one, or `otherwise` if none is close."""
    near = nearest(name[:60], known)
    return f"did you mean `{near}`?" if near else otherwise


def fold_name(name: str) -> str:
    """Return the same text for every spelling of a name: snake_case, camelCase or kebab-case."""
    return name.replace("_", "").replace("-", "").lower()


_BY_FOLDED = {fold_name(name): name for name in CATALOGUE} | {fold_name(k): v for k, v in OTHER_NAMES.items()}
