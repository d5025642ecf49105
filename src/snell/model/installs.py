"""What set-up knows about a client, and the edits to files that follow from it; `setup/apply_edits.py` makes them."""

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct

SetupScope = Literal["user", "project", "local"]
Format = Literal["json", "jsonc", "toml", "yaml", "markdown", "whole"]
SCOPES: tuple[SetupScope, ...] = ("user", "project", "local")


class Lists(Struct, frozen=True):
    """Entries in lists by name, such as hooks by event. What runs `snell-hook` in any of these lists is ours."""

    at: tuple[str, ...]
    lists: Mapping[str, tuple[Any, ...]]


class Member(Struct, frozen=True):
    """One value under a key that only Snell uses."""

    at: tuple[str, ...]
    value: Any


class Entries(Struct, frozen=True):
    """Entries of a TOML array of tables; those that run `snell-hook` are ours."""

    name: str
    items: tuple[Mapping[str, Any], ...]


class Wrapped(Struct, frozen=True):
    """
    A command setting that runs Snell's command, which runs the one that was there before, if any.

    `test` is the shell test for Snell's command: where it is missing, the one from before runs by itself.
    """

    at: tuple[str, ...]
    command: str
    only_existing: bool = False
    test: str = ""


class Block(Struct, frozen=True):
    """A passage of a text file, between two markers."""

    text: str


class Whole(Struct, frozen=True):
    """A file that Snell owns completely."""

    text: str
    executable: bool = False


Edit = Lists | Member | Entries | Wrapped | Block | Whole


class FileEdit(Struct, frozen=True):
    """Everything that set-up wants to have in one file."""

    path: str
    format: Format
    edits: tuple[Edit, ...]
    purpose: str
    start: Mapping[str, Any] = {}  # what a new file begins with


class Switch(Struct, frozen=True):
    """A setting with which a user or a company keeps a client from running hooks."""

    at: tuple[str, ...]
    off: bool | str  # the value, or a name in a list, that turns hooks off
    files: tuple[str, ...]  # the one with the highest priority first; `*` in a name = all of them, the last one first


class Install(Struct, frozen=True, kw_only=True):
    """
    Where one client keeps its configuration, and in which form.

    Paths: `~` is the home directory, `{base}` the client's own folder, and a relative path belongs to the project.
    """

    name: str
    title: str
    programs: tuple[str, ...] = ()  # what it is called on PATH
    base: str = ""
    base_variable: str = ""  # an environment variable that moves `base`
    folders: tuple[str, ...] = ()  # folders that show that it is, or was, installed
    form: str = ""  # how hooks are written: a name in `setup/config_formats.py`
    format: Format = "json"
    hooks: Mapping[str, str] = {}  # by scope
    events: tuple[str, ...] = ()  # the client's own names
    session_start: tuple[str, ...] = ("SessionStart",)
    matcher: str | None = None  # on tool events; absent = all tools
    timeout: int = 600  # seconds for all hooks; each has a limit of its own
    timeouts: Mapping[str, int] = {}  # by event, where the client limits them
    neutral: Mapping[str, str] = {}  # what to print without an opinion, by event; "" = for every other one
    refusal: str = ""  # what to print to refuse a call, where exit code 2 does not
    ignores_missing: bool = False  # a hook command that is not found changes nothing in this client
    switches: tuple[Switch, ...] = ()
    mcp: Mapping[str, str] = {}
    mcp_form: str = "mcpServers"
    mcp_format: Format = "json"
    rules: Mapping[str, str] = {}
    status_line: Mapping[str, str] = {}
    reads: tuple[str, ...] = ()  # layers of other clients' hook files that it runs by itself
    after: tuple[str, ...] = ()  # what the user has to do afterwards
    remarks: tuple[str, ...] = ()
