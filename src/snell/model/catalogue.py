"""
The catalogue: one row per event, saying what its matcher reads and what a hook may do there.

Names are Claude Code's. The rows hold what the real client honours (2.1.325); an event that is not listed passes
through with `UNKNOWN`, so that tomorrow's events reach hooks without a release of ours.
"""

from collections.abc import Iterable, Mapping

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


def _row(
    name: str,
    matches: str,
    can: str,
    *,
    rewrites: str = "",
    extras: str = "",
    subject: str,
    ctx: bool = False,
) -> EventRow:
    return EventRow(
        name=name,
        matches=matches,
        can=frozenset(can.split()),
        rewrites=rewrites,
        extras=frozenset(extras.split()),
        subject=subject,
        has_conversation=ctx,
        only_bar_separates=name in {"FileChanged", "StopFailure"},
        text_is=_TEXT_IS.get(name, ""),
    )


_TEXT_IS = {
    "SessionStart": "note",
    "UserPromptSubmit": "note",
    "UserPromptExpansion": "note",
    "PostModelSwitch": "note",
    "PreCompact": "note",
    "WorktreeCreate": "worktreePath",
}

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
        ),
        _row(
            "PermissionRequest",
            "tool_name",
            "allow ask deny rewrite tell",  # to ask is to leave the dialog to the person it is shown to
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
        ),
        _row("PostToolUseFailure", "tool_name", "deny note tell", subject="tool", ctx=True),
        _row("PostToolBatch", "", "deny note tell stop", subject="event", ctx=True),
        _row(
            "UserPromptSubmit",
            "",
            "deny rewrite note tell stop",
            rewrites="prompt",
            extras="sessionTitle suppressOriginalPrompt",
            subject="prompt",
            ctx=True,
        ),
        _row(
            "UserPromptExpansion",
            "command_name",
            "deny note tell",
            extras="suppressOriginalPrompt",
            subject="prompt",
            ctx=True,
        ),
        _row(
            "SessionStart",
            "source",
            "note tell env",
            extras="initialUserMessage sessionTitle watchPaths reloadSkills",
            subject="session",
        ),
        _row("SessionEnd", "reason", "tell", subject="session"),
        _row("Setup", "trigger", "note tell env", subject="session"),
        _row("Stop", "", "deny note tell stop", subject="turn", ctx=True),
        _row("StopFailure", "error", "", subject="turn"),
        _row("SubagentStart", "agent_type", "note tell", subject="agent"),
        _row("SubagentStop", "agent_type", "deny note tell stop", subject="agent", ctx=True),
        _row("PreCompact", "trigger", "deny note tell", subject="compaction"),
        _row("PostCompact", "trigger", "tell", subject="compaction"),
        _row("PreModelSwitch", "to_model", "allow ask deny tell", subject="model"),
        _row("PostModelSwitch", "to_model", "note tell", subject="model"),
        _row("Notification", "notification_type", "tell", subject="notification"),
        _row("MessageDisplay", "", "rewrite", rewrites="delta", subject="message"),
        _row("TaskCreated", "", "deny tell", subject="task", ctx=True),
        _row("TaskCompleted", "", "deny tell", subject="task", ctx=True),
        _row("TeammateIdle", "", "deny tell stop", subject="agent", ctx=True),
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
        _row("FileChanged", "file_path", "tell env", extras="watchPaths", subject="file"),
        _row("DirectoryAdded", "source", "tell", subject="file"),
        _row("WorktreeCreate", "", "deny tell", extras="worktreePath", subject="worktree"),
        _row("WorktreeRemove", "", "tell", subject="worktree"),
    )
}

UNKNOWN = EventRow(name="", can=frozenset({"note", "tell"}))

# A stop must always be possible in the end: a hook that fails here never keeps the agent running.
NEVER_BLOCKED_BY_FAILURE = frozenset({"Stop", "SubagentStop", "TaskCompleted", "TeammateIdle"})
TURN_ENDS = frozenset({"Stop", "SubagentStop"})
# Refusing these protects nothing: the tool has run, and a context that is never compacted only fills up.
_TOO_LATE_TO_REFUSE = frozenset({"PostToolUse", "PostToolUseFailure", "PostToolBatch", "PreCompact"})

# Names that other systems use for the same event.
OTHER_NAMES = {"AgentStop": "Stop", "UserPrompt": "UserPromptSubmit"}


def row_of(name: str) -> EventRow:
    """The row of a canonical event name; `UNKNOWN` for an event that the catalogue does not list."""
    return CATALOGUE.get(name, UNKNOWN)


def can_be_refused(name: str) -> bool:
    """Whether what cannot be checked is refused at this event when a client was set up to fail closed."""
    if name in NEVER_BLOCKED_BY_FAILURE or name in _TOO_LATE_TO_REFUSE:
        return False
    return name not in CATALOGUE or "deny" in CATALOGUE[name].can


def canonical(name: str) -> str:
    """Return the canonical name for PascalCase, camelCase, snake_case or kebab-case; an unknown name as it is."""
    return name if name in CATALOGUE else _BY_FOLDED.get(_folded(name), name)


def nearest(name: str, known: Iterable[str] = CATALOGUE) -> str:
    """The known name that is closest to a misspelt one, or an empty string."""
    by_folded = {_folded(each): each for each in known}
    from difflib import get_close_matches  # slow to import, and for mistakes alone

    found = get_close_matches(_folded(name), by_folded, n=1, cutoff=0.6)
    return by_folded[found[0]] if found else ""


def _folded(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


_BY_FOLDED = {_folded(name): name for name in CATALOGUE} | {_folded(k): v for k, v in OTHER_NAMES.items()}
