"""What set-up knows about a client, and the changes to files that come of it. Data; `settings/edits` acts on it."""

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
    """One value under a key that is ours alone."""

    at: tuple[str, ...]
    value: Any


class Entries(Struct, frozen=True):
    """Entries of a TOML array of tables; those that run `snell-hook` are ours."""

    name: str
    items: tuple[Mapping[str, Any], ...]


class Wrapped(Struct, frozen=True):
    """
    A command setting that runs ours, which runs the one that was there before, if there was one.

    `test` is what a shell asks to find out whether ours is there: without it, the one from before runs by itself.
    """

    at: tuple[str, ...]
    command: str
    only_existing: bool = False
    test: str = ""


class Block(Struct, frozen=True):
    """A passage of a text file, between two marks."""

    text: str


class Whole(Struct, frozen=True):
    """A file that is ours from the first byte to the last."""

    text: str
    executable: bool = False


Edit = Lists | Member | Entries | Wrapped | Block | Whole


class FileEdit(Struct, frozen=True):
    """Everything that set-up wants to be true of one file."""

    path: str
    format: Format
    edits: tuple[Edit, ...]
    purpose: str
    start: Mapping[str, Any] = {}  # what a new file begins with


class Switch(Struct, frozen=True):
    """A setting with which a person, or their company, keeps a client from running hooks."""

    at: tuple[str, ...]
    off: bool | str  # the value, or a name in a list, that does it
    files: tuple[str, ...]  # the one that counts first; `*` in a name = all of them, the last one first


class Install(Struct, frozen=True, kw_only=True):
    """
    Where one client keeps its configuration and how it wants it.

    Paths: `~` is the home directory, `{base}` the client's own folder, and a relative path belongs to the project.
    """

    name: str
    title: str
    programs: tuple[str, ...] = ()  # what it is called on PATH
    base: str = ""
    base_variable: str = ""  # an environment variable that moves `base`
    folders: tuple[str, ...] = ()  # signs that it is, or was, here
    form: str = ""  # how hooks are written: a name in `setup/config_formats.py`
    format: Format = "json"
    hooks: Mapping[str, str] = {}  # by scope
    events: tuple[str, ...] = ()  # the client's own names
    session_start: tuple[str, ...] = ("SessionStart",)
    matcher: str | None = None  # on tool events; absent = all tools
    timeout: int = 600  # seconds; hooks have limits of their own
    timeouts: Mapping[str, int] = {}  # where the client bounds them
    neutral: Mapping[str, str] = {}  # what to print without an opinion, by event; "" = for every other one
    refusal: str = ""  # what to print to refuse a call, where exit code 2 does not
    ignores_missing: bool = False  # a command that is not found changes nothing here, so any shell may read ours
    switches: tuple[Switch, ...] = ()
    mcp: Mapping[str, str] = {}
    mcp_form: str = "mcpServers"
    mcp_format: Format = "json"
    rules: Mapping[str, str] = {}
    status_line: Mapping[str, str] = {}
    reads: tuple[str, ...] = ()  # layers of other clients' hook files that it runs by itself
    after: tuple[str, ...] = ()  # what the person has to do then
    remarks: tuple[str, ...] = ()
