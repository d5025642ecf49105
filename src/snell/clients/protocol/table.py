"""The types of the tables that describe clients."""

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any

from msgspec import Struct

from snell.model.events import Payload


class Slot(Enum):
    """A placeholder in a form, filled from the decision."""

    EVENT = "the client's own name of the event"
    REASON = "why it is refused, asked about or allowed"
    NOTE = "text for the model"
    TELL = "text for the user"
    STOP = "why the turn ends"
    INPUT = "the changed tool input, in the client's own keys"
    OUTPUT = "the changed tool output, as text"
    RESULT = "the changed tool output, in the form that the client gave it"
    ENV = "variables for later commands"


class Form(Struct, frozen=True, forbid_unknown_fields=True):
    """How an answer is written: JSON with slots, or text on stdout or stderr with an exit code."""

    json: Mapping[str, Any] | None = None
    text: Slot | None = None
    stderr: Slot | None = None
    exit_code: int = 0


class Answers(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The forms of the answers that a client takes at one event. An answer without a form becomes a stricter one."""

    deny: Form | None = None
    ask: Form | None = None
    allow: Form | None = None
    rewrite: Form | None = None  # of the input before a tool, of the output after it
    note: Form | None = None
    stop: Form | None = None
    tell: Form | None = None
    env: Form | None = None
    neutral: Form = Form()
    deny_replaces: bool = False  # the reason of a deny replaces the tool's output


class Tool(Struct, frozen=True, forbid_unknown_fields=True):
    """The name and the input keys that a client's tool has in Claude Code."""

    name: str
    keys: Mapping[str, str] = {}  # the client's key -> Claude's
    lists: Mapping[str, str] = {}  # a key with a list of strings -> Claude's key, with one string per line
    is_patch: bool = False  # the new text is a patch; the files are named in it
    is_argv: bool = False  # the command is a list of words
    creates: "Tool | None" = None  # used instead when the input has no old text: the call then creates a file


class Refinement(Struct, frozen=True, forbid_unknown_fields=True):
    """An event that is another one of Snell's if a field of its payload has a value."""

    event: str
    becomes: str
    field: str = ""  # a path; empty: always
    equals: str | bool | None = None  # None: any value but an empty one


class ClientTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A client's protocol: how it reports events, and the answers that it takes."""

    name: str
    title: str
    events: Mapping[str, str] = {}  # the client's name -> Snell's; names that differ only in case need no row
    event_fields: tuple[str, ...] = ("hook_event_name",)
    # An event that neither payload nor command line names -> the fields that identify it.
    nameless: Mapping[str, frozenset[str]] = {}
    fields: Mapping[str, tuple[str, ...]] = {}  # Snell's field -> the client's, as a path such as `workspace_roots.0`
    drops: frozenset[str] = frozenset()  # objects of the payload whose values are all in `fields`
    values: Mapping[str, Mapping[str, str]] = {}  # Snell's field -> the client's value -> Snell's
    tools: Mapping[str, Tool] = {}
    mcp_name: tuple[str, str] | None = None  # the names of MCP tools: their prefix, and what joins server and tool
    wraps_mcp: Mapping[str, str] = {}  # the object around the input of an MCP tool: its keys, and what each holds
    refine: tuple[Refinement, ...] = ()  # the first one that applies
    # Changes the payload of an event where a table is not enough: `adjust` of the client's Python module.
    adjust: Callable[["ClientTable", str, Payload], Payload] | None = None
    answers: Mapping[str, Answers] = {}  # by the client's name of the event, else by Snell's
    neutral: Form = Form()  # for events that have no row
    response_text: tuple[str, ...] = ()  # the keys of the text in the client's `tool_response`
    merges_input: bool = False  # the client merges a changed input into the old one, so that no key can be removed
    # The client's tool -> the keys of its input that an answer can change; no key for a tool that is absent, every key
    # for tools of MCP servers. None: every key of every tool.
    rewritable: Mapping[str, frozenset[str]] | None = None
    rewrite_allows: bool = False  # a rewrite also approves the call
    # Permission modes in which the client never asks: it would run the call, and an allow adds nothing.
    free_modes: frozenset[str] = frozenset()
    # The options and commands with which the client runs without a user. If given, the client ignores an ask when it
    # runs with one of them, or without a terminal. None: it always shows an ask, or refuses the call with its reason.
    one_shot: frozenset[str] | None = None
    asks_when: str = ""  # what the user does so that the client asks, if it does not ask in every mode
    longest_note: int = 0  # characters; the client drops longer notes
