"""What set-up knows about a client, and the edits of files that follow from it. Data; package `setup` applies it."""

from collections.abc import Mapping
from enum import Enum
from typing import Any, Literal

from msgspec import Struct, field

SetupScope = Literal["user", "project", "local"]
Format = Literal["json", "jsonc", "toml", "yaml", "markdown", "own file"]
SCOPES: tuple[SetupScope, ...] = ("user", "project", "local")
ENTRY_NAME = "snell"  # of Snell's MCP server, and of its hooks where a client names them
OUR_MARK = "written by `snell setup`"  # in every file that only Snell writes


class Placeholder(Enum):
    """A value that set-up fills into a template. A key whose placeholder has no value is left out."""

    COMMAND = "the shell command that runs snell-hook for this event"
    PROGRAM = "the program to start without a shell: snell-hook, or Snell's MCP server"
    ARGUMENTS = "the list of its arguments"
    ARGV = "the program and its arguments in one list"
    LATE_ARGUMENTS = "the arguments of the second call, which the client does not wait for"
    ON_FAILURE = "`block` where --fail-closed applies to this event"
    SCRIPT = "the path of the script that runs snell-hook"
    EVENT = "the client's name of the event"
    EVENT_ENTRY_NAME = "a name for the entry of this event"
    MATCHER = "the matcher for all tools, on events that are about tools"
    SECONDS = "the time limit in seconds"
    MILLISECONDS = "the time limit in milliseconds"
    HOOKS = "all entries: a list for each event"
    HOOK_LIST = "all entries in one list"


class HookForm(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    How a client wants its hooks written. `entry`, `late_entry` and `files` are templates with placeholders.

    Layouts: `lists` adds an entry to the list of each event, `member` writes one value with all entries, `tables` adds
    TOML tables, `files` writes files that only Snell writes, `scripts` writes an executable file for each event, and
    `plugin` copies the client's file from `clients/plugin_files`.
    """

    name: str  # as `snell setup --json` shows it
    layout: Literal["lists", "member", "tables", "files", "scripts", "plugin"]
    entry: Mapping[str, Any] = {}  # of one event
    entry_without_tool: Mapping[str, Any] | None = None  # of events that are not about tools, where it differs
    late_entry: Mapping[str, Any] | None = None  # of the second call for an event, where the client takes one
    more: Mapping[str, Mapping[str, Any]] = {}  # event -> keys that only its entry has
    at: tuple[str, ...] = ("hooks",)  # where lists, member or tables are in the file
    start: Mapping[str, Any] = {}  # what a new file begins with
    files: Mapping[str, Any] = {}  # layout `files`: content by path below the place of the hooks, "" = that place
    script: str = ""  # layout `lists`: the name of a script beside the file, for clients that start no shell
    called_as: str = ""  # the client that commands name, where several clients share one file


class ListEntries(Struct, frozen=True):
    """Entries for lists, such as the hooks of each event. Entries that run `snell-hook` are Snell's."""

    at: tuple[str, ...]
    lists: Mapping[str, tuple[Any, ...]]


class Member(Struct, frozen=True):
    """One value under a key that belongs to Snell."""

    at: tuple[str, ...]
    value: Any


class TomlTables(Struct, frozen=True):
    """Entries for a TOML array of tables. Entries that run `snell-hook` are Snell's."""

    name: str
    items: tuple[Mapping[str, Any], ...]


class WrappedCommand(Struct, frozen=True):
    """
    A command setting that runs Snell's command, which then runs the user's former command, if there was one.

    `test` is a shell test that Snell is installed; if it fails, the user's former command runs alone.
    """

    at: tuple[str, ...]
    command: str
    only_existing: bool = False
    test: str = ""


class TextBlock(Struct, frozen=True):
    """A part of a text file, between two marker lines."""

    text: str


class OwnFile(Struct, frozen=True):
    """A file that only Snell writes."""

    text: str
    executable: bool = False


Edit = ListEntries | Member | TomlTables | WrappedCommand | TextBlock | OwnFile


class FileEdit(Struct, frozen=True):
    """All edits of one file."""

    path: str
    format: Format
    edits: tuple[Edit, ...]
    purpose: str
    start: Mapping[str, Any] = {}  # what a new file begins with


class Switch(Struct, frozen=True, forbid_unknown_fields=True):
    """A setting with which a user or an administrator keeps a client from running hooks."""

    at: tuple[str, ...]
    off: bool | str  # the value, or the name in a list, that switches hooks off
    files: tuple[str, ...]  # in order of precedence; `*` in a name matches several files, the last name first


class Approval(Struct, frozen=True, forbid_unknown_fields=True):
    """Where a client keeps its user's approval of hooks; without it, the client skips them and says nothing."""

    form: Literal["hook digests", "folder words", "folder tables"]
    file: str
    scopes: tuple[SetupScope, ...] = ("user", "project")
    switch: Switch | None = None  # a setting with which no approval is needed
    lifted_by: Mapping[str, str] = {}  # variables with which no approval is needed


class Install(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """
    Where a client keeps its configuration, and how Snell's entries are written there.

    Paths: `~` is the home directory, `{base}` the client's own folder; a relative path is inside the project.
    """

    name: str
    title: str
    programs: tuple[str, ...] = ()  # its names on PATH
    base: str = ""
    base_variable: str = ""  # an environment variable that moves `base`
    folders: tuple[str, ...] = ()  # if one exists, the client is or was installed
    form: HookForm | None = None  # None: the client runs no hooks
    format: Format = "json"  # of the files in `hooks`
    hooks: Mapping[str, str] = {}  # scope -> path
    events: tuple[str, ...] = ()  # under the client's own names
    since: Mapping[str, str] = {}  # event -> the version of the client that added it; older ones do not know it
    session_start: tuple[str, ...] = ("SessionStart",)  # those of `events` that report a new session
    matcher: str | None = None  # matches all tools; None: the client needs no matcher for that
    timeout: int = 600  # seconds; hooks have time limits of their own
    timeouts: Mapping[str, int] = {}  # event -> seconds, where the client sets a lower limit
    neutral: Mapping[str, str] = {}  # event -> what a shell prints for "no opinion" without Snell; "" = other events
    refusal: str = ""  # what a shell prints to refuse a call without Snell, where exit code 2 does not refuse
    ignores_missing: bool = False  # the client ignores a command that is not found, so no test for it is needed
    switches: tuple[Switch, ...] = ()
    approval: Approval | None = None
    mcp: Mapping[str, str] = {}  # scope -> path
    mcp_format: Format = "json"
    mcp_at: tuple[str, ...] = ("mcpServers",)  # where the servers are in the file
    mcp_entry: Mapping[str, Any] = field(  # a template
        default_factory=lambda: {"command": Placeholder.PROGRAM, "args": Placeholder.ARGUMENTS}
    )
    rules: Mapping[str, str] = {}  # scope -> path
    status_line: Mapping[str, str] = {}  # scope -> path
    command: Mapping[str, str] = {}  # scope -> path of the file that makes `/harness` a command of the client
    command_text: str = "/harness $ARGUMENTS"  # what that command sends, with the client's word for what was typed
    # Layers of hooks that it runs itself: other clients' files, and with `skill:` and `agent:` their front matter.
    reads: tuple[str, ...] = ()
    opens_skills: bool = False  # it has no tool that starts a skill: its model reads the SKILL.md instead
    after: tuple[str, ...] = ()  # what the user has to do after set-up
    remarks: tuple[str, ...] = ()
