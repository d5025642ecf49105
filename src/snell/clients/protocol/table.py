"""The tables in which a client is described."""

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any

from msgspec import Struct

from snell.model.events import Payload


class Slot(Enum):
    """A place in a form that the decision fills."""

    EVENT = "the client's own name of the event"
    REASON = "why it is refused, asked about or allowed"
    NOTE = "text for the model"
    TELL = "text for the person"
    STOP = "why the turn ends"
    INPUT = "the tool input as it shall be, in the client's own keys"
    OUTPUT = "the tool output as it shall be, as text"
    ENV = "variables for later commands"


class Form(Struct, frozen=True):
    """One way to say something: JSON with slots, or text on stdout or stderr with an exit code."""

    json: Mapping[str, Any] | None = None
    text: Slot | None = None
    stderr: Slot | None = None
    exit_code: int = 0


class Answers(Struct, frozen=True, kw_only=True):
    """What can be said at one event. What has no form is said by the nearest stricter one that has."""

    deny: Form | None = None
    ask: Form | None = None
    allow: Form | None = None
    rewrite: Form | None = None  # of the input before a tool, of the output after it
    note: Form | None = None
    stop: Form | None = None
    tell: Form | None = None
    env: Form | None = None
    neutral: Form = Form()
    deny_replaces: bool = False  # the reason of a deny stands in the place of the tool's output


class Tool(Struct, frozen=True):
    """What a client's tool is called in Claude Code, and its input keys there."""

    name: str
    keys: Mapping[str, str] = {}  # the client's key -> Claude's
    lists: Mapping[str, str] = {}  # a key that holds a list of texts -> Claude's key, which holds them line by line
    is_patch: bool = False  # the new text is a patch; the files are named in it
    is_argv: bool = False  # the command is a list of words
    creates: "Tool | None" = None  # what it is when no old text is given: a file is written, not edited


class ClientTable(Struct, frozen=True, kw_only=True):
    """A client: how it reports events, and what it takes for an answer."""

    name: str
    title: str
    events: Mapping[str, str] = {}  # the client's name -> ours; names that are the same but for their case need no row
    event_fields: tuple[str, ...] = ("hook_event_name",)
    # An event that does not name itself -> the fields by which it is known where the command line is silent too.
    nameless: Mapping[str, frozenset[str]] = {}
    fields: Mapping[str, tuple[str, ...]] = {}  # our field -> where the client has it, such as `workspace_roots.0`
    drops: frozenset[str] = frozenset()  # objects of the payload of which nothing is left when `fields` is through
    values: Mapping[str, Mapping[str, str]] = {}  # our field -> the client's word -> ours
    tools: Mapping[str, Tool] = {}
    mcp_name: tuple[str, str] | None = (
        None  # what a tool of an MCP server is called: prefix, and what joins server and tool
    )
    wraps_mcp: bool = False  # the input of an MCP tool stands in an object with the tool's name
    refine: Callable[[str, Payload], str] | None = None  # where the event depends on more than its name
    mend: Callable[[str, Payload], Payload] | None = None  # where reshaping takes more than a table
    answers: Mapping[str, Answers] = {}  # by the client's event name, else by ours
    neutral: Form = Form()  # for events that have no row
    response_text: tuple[str, ...] = ()  # where the text stands in the client's `tool_response`
    merges_input: bool = False  # a rewritten input is laid over the old one, so that no key can be taken away
    # The client's tool -> the keys of its input that an answer can change; a tool that is absent takes none. Those of
    # MCP servers take all. None: every tool takes every key.
    rewritable: Mapping[str, frozenset[str]] | None = None
    rewrite_allows: bool = False  # a rewrite goes out with an approval
    free_modes: frozenset[str] = (
        frozenset()
    )  # permission modes that ask nobody: an ask would run, an allow adds nothing
    # The options and commands with which it runs without a person. Given: it drops an ask then, and wherever it has no
    # terminal. None: an ask is honoured, or refused with its reason, wherever it runs.
    one_shot: frozenset[str] | None = None
    asks_when: str = ""  # what a person does so that it asks, in a client that does not in every mode
    longest_note: int = 0  # characters; a longer one would be dropped
