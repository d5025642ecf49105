"""
The catalogue: one row per event, with everything that Snell knows about it. A new event is one more row.

Names are Claude Code's. The rows hold what the real client honours (2.1.325); an event that is not listed passes
through with `UNKNOWN`, so that events of newer clients reach hooks without a new version of Snell.
"""

from collections.abc import Iterable, Mapping

from msgspec import Struct, convert


class EventRow(Struct, frozen=True, forbid_unknown_fields=True):
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


def _row(name: str, text: str) -> EventRow:
    """Return a row from words: `FIELD` for a true one, else `FIELD=VALUE`; several values are joined by commas."""
    words = (word.partition("=") for word in text.split())
    fields = {key: (value.split(",") if key in _SETS else value) if given else True for key, given, value in words}
    return convert({"name": name, **fields}, EventRow, strict=False)


_SETS = ("can", "extras", "aliases")
_TURN_END = "can=deny,note,tell,stop has_conversation fails_open ends_turn refusal_continues"
_TOOL = "matches=tool_name subject=tool has_conversation"
_ROWS = {
    "PreToolUse": f"{_TOOL} can=allow,ask,defer,deny,rewrite,note,tell,stop rewrites=tool_input refusal_ends_turn",
    # Asking leaves the dialog to the user.
    "PermissionRequest": f"{_TOOL} can=allow,ask,deny,rewrite,tell rewrites=tool_input"
    " extras=updatedPermissions,interrupt",
    "PermissionDenied": f"{_TOOL} can=tell extras=retry",
    "PostToolUse": f"{_TOOL} can=deny,rewrite,note,tell,stop rewrites=tool_response extras=classifierContext"
    " is_too_late refusal_ends_turn",
    "PostToolUseFailure": f"{_TOOL} can=deny,note,tell is_too_late",
    # Sent many times a turn, like MessageDisplay, and no pack uses it.
    "PostToolBatch": "can=deny,note,tell,stop has_conversation is_too_late registered_for=PostToolBatch",
    "UserPromptSubmit": "subject=prompt can=deny,rewrite,note,tell,stop rewrites=prompt text_is=note has_conversation"
    " takes_held_notes extras=sessionTitle,suppressOriginalPrompt client_timeout=30 aliases=UserPrompt",
    "UserPromptExpansion": "matches=command_name subject=prompt can=deny,note,tell text_is=note has_conversation"
    " extras=suppressOriginalPrompt",
    "SessionStart": "matches=source subject=session can=note,tell,env text_is=note takes_held_notes"
    " extras=initialUserMessage,sessionTitle,watchPaths,reloadSkills",
    "SessionEnd": "matches=reason subject=session can=tell",
    "Setup": "matches=trigger subject=session can=note,tell,env",
    "Stop": f"subject=turn {_TURN_END} aliases=AgentStop",
    "StopFailure": "matches=error subject=turn only_bar_separates",
    "SubagentStart": "matches=agent_type subject=agent can=note,tell",
    "SubagentStop": f"matches=agent_type subject=agent {_TURN_END}",
    "PreCompact": "matches=trigger subject=compaction can=deny,note,tell text_is=note is_too_late",
    "PostCompact": "matches=trigger subject=compaction can=tell",
    "PreModelSwitch": "matches=to_model subject=model can=allow,ask,deny,tell client_timeout=30",
    "PostModelSwitch": "matches=to_model subject=model can=note,tell text_is=note client_timeout=30",
    "Notification": "matches=notification_type subject=notification can=tell",
    "MessageDisplay": "subject=message can=rewrite rewrites=delta client_timeout=10 registered_for=MessageDisplay",
    "TaskCreated": "subject=task can=deny,tell has_conversation",
    "TaskCompleted": "subject=task can=deny,tell has_conversation fails_open",
    "TeammateIdle": "subject=agent can=deny,tell,stop has_conversation fails_open refusal_continues refusal_ends_turn",
    "Elicitation": "matches=mcp_server_name subject=elicitation can=deny,tell extras=action,content",
    "ElicitationResult": "matches=mcp_server_name subject=elicitation can=deny,tell extras=action,content",
    "ConfigChange": "matches=source subject=config can=deny,tell",
    "InstructionsLoaded": "matches=load_reason subject=file",
    "CwdChanged": "subject=file can=tell,env extras=watchPaths",
    "FileChanged": "matches=file_path subject=file can=tell,env extras=watchPaths only_bar_separates",
    "DirectoryAdded": "matches=source subject=file can=tell",
    # An entry for these replaces git's own worktrees, so they are for hooks that create worktrees.
    "WorktreeCreate": "subject=worktree can=deny,tell extras=worktreePath text_is=worktreePath"
    " registered_for=WorktreeCreate",
    "WorktreeRemove": "subject=worktree can=tell registered_for=WorktreeCreate",
}

CATALOGUE: Mapping[str, EventRow] = {name: _row(name, text) for name, text in _ROWS.items()}

UNKNOWN = EventRow(name="", can=frozenset({"note", "tell"}))

NEVER_BLOCKED_BY_FAILURE = frozenset(row.name for row in CATALOGUE.values() if row.fails_open)
TURN_ENDS = frozenset(row.name for row in CATALOGUE.values() if row.ends_turn)
COMMON_EVENTS = "PreToolUse, PostToolUse and Stop are common"  # advice for an unknown name
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
