"""
The settings as data: every key, its type, its default and one line on what it is for.

The parser, the JSON Schema and the reference page come from these rows. A key is found under any spelling of its
name or of its other names: snake_case, camelCase or kebab-case.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from snell.engine.match import TYPES
from snell.model.hooks import ASYNC_TIMEOUT, DEFAULT_TIMEOUT
from snell.model.tools import ALL_KINDS

# Clients whose own hook files can be read; see `foreign.py`.
IMPORTABLE = ("claude-code", "codex", "copilot", "cursor", "gemini")


class Key(Struct, frozen=True):
    name: str
    type: str  # a name in values.READERS
    says: str
    default: Any = None
    also: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    stands_for: Mapping[str, str] = {}  # other people's words for a choice
    is_required: bool = False
    in_handler: bool = False  # may also stand in the handler's own table
    layers: tuple[str, ...] = ()  # the only layers that may set it; empty = all
    ignored: str = ""  # accepted because a client has it; why it does nothing here
    inner: tuple["Key", ...] = ()  # the keys of a table


class HandlerRow(Struct, frozen=True):
    name: str
    says: str
    timeout: float
    keys: tuple[Key, ...]
    tables: tuple[str, ...] = ()  # names of its table, besides its own
    types: tuple[str, ...] = ()  # values of `type`, besides its own
    marks: tuple[str, ...] = ()  # keys that show which handler a flat entry means


HOOK_KEYS: tuple[Key, ...] = (
    Key("id", "text", "what the journal calls the hook; made from the definition when absent", also=("name",)),
    Key("event", "text", "the event that the hook reacts to", is_required=True),
    Key("matcher", "matcher", "which tools, sources, ... of that event; absent = all", also=("tool_matcher",)),
    Key("matcher_type", "text", "what the matcher is; guessed from its characters when absent", choices=TYPES),
    Key("kinds", "texts or text", "only for these kinds of tool", also=("kind",), choices=ALL_KINDS),
    Key("if", "text", "a permission rule such as `Bash(git push *)` that must hold"),
    Key(
        "role",
        "text",
        "what the hook may do; absent = anything, found out as it answers",
        choices=("rewrites", "judges", "informs", "watches"),
    ),
    Key("type", "text", "the kind of handler, where its keys stand in the entry itself"),
    Key(
        "timeout", "seconds", "time limit in seconds, at most 600; the default depends on the handler", in_handler=True
    ),
    Key("timeout_sec", "seconds", "the same as `timeout`", in_handler=True),
    Key("timeout_ms", "milliseconds", "the same in milliseconds", in_handler=True),
    Key(
        "async", "flag", "the answer does not wait for this hook", also=("async_mode",), default=False, in_handler=True
    ),
    Key(
        "async_timeout",
        "milliseconds",
        "time limit of an async hook, in milliseconds",
        default=ASYNC_TIMEOUT * 1000,
        in_handler=True,
    ),
    Key(
        "force_sync",
        "flag",
        "wait for the hook even if it is async",
        default=False,
        also=("force_sync_execution",),
        in_handler=True,
    ),
    Key("once", "flag", "at most one successful run a session", default=False, in_handler=True),
    Key(
        "on_failure",
        "text",
        "what a failure of the hook means; absent = `block` for a policy hook that can judge, else `allow`",
        choices=("allow", "ask", "block"),
        stands_for={"continue": "allow"},
        in_handler=True,
    ),
    Key(
        "exit_code_mode",
        "text",
        "`client`: exit code 2 denies; `strict`: every other than 0 does",
        default="client",
        choices=("client", "strict"),
        in_handler=True,
    ),
    Key("enabled", "flag", "whether the hook runs at all", default=True),
    Key("status_message", "text", "what to show while the hook runs", default="", in_handler=True),
    Key("group", "text", "a name to remove several hooks together by", default=""),
    Key("description", "text", "for people who read the file", default=""),
    Key(
        "async_rewake",
        "flag",
        "async, and a late refusal wakes the agent, where the client can be woken",
        default=False,
        in_handler=True,
    ),
    Key("rewake_message", "any", "", ignored="it belongs to asyncRewake", in_handler=True),
    Key("rewake_summary", "any", "", ignored="it belongs to asyncRewake", in_handler=True),
    Key("cloud", "any", "", ignored="hooks run on this machine", in_handler=True),
)

HANDLERS: tuple[HandlerRow, ...] = (
    HandlerRow(
        "command",
        "a program, run by the shell, or directly when it has `args`",
        DEFAULT_TIMEOUT,
        (
            Key("command", "text", "the command line, or the program when there are `args`", is_required=True),
            Key("args", "texts", "arguments; with them no shell is started"),
            Key("pass_context", "flag", "give the event on stdin; off by default in a `shell` table", default=True),
            Key("parse_result", "flag", "read stdout as an answer; off by default in a `shell` table", default=True),
            Key(
                "written_for",
                "text",
                "another client's event, such as `cursor:beforeShellExecution`: the program gets what that client"
                " would send, and answers in its words",
                default="",
            ),
            Key("their_matcher", "text", "with `written_for`: a matcher in that client's own terms", default=""),
            Key("shell", "any", "", ignored="commands run in the system's shell"),
        ),
        tables=("shell",),
        types=("shell",),
        marks=("command",),
    ),
    HandlerRow(
        "webhook",
        "an HTTP endpoint",
        30.0,
        (
            Key("url", "text", "where the event is sent", is_required=True),
            Key("method", "method", "the HTTP method", default="POST", choices=("POST", "PUT")),
            Key("headers", "texts by name", "headers; `${NAME}` is filled in from `allowed_env`"),
            Key("allowed_env", "texts", "environment variables that headers may use", also=("allowed_env_vars",)),
            Key("secret_env", "text", "the variable with the secret to sign with; absent = your own", default=""),
            Key("redact", "flag", "take secrets out of what is sent; off only in user and policy files", default=True),
        ),
        tables=("http",),
        types=("http",),
        marks=("url",),
    ),
    HandlerRow(
        "prompt",
        "a question to a language model",
        30.0,
        (
            Key("prompt", "text", "the question; `$ARGUMENTS` stands for the event", is_required=True),
            Key("model", "text", "which model", default=""),
            Key("continue_on_block", "flag", "a refusal goes to the agent instead of ending its turn", default=False),
        ),
        marks=("prompt",),
    ),
    HandlerRow(
        "agent",
        "an agent that looks into the matter",
        60.0,
        (
            Key("prompt", "text", "what to find out; `$ARGUMENTS` stands for the event", is_required=True),
            Key("model", "text", "which model", default=""),
        ),
    ),
    HandlerRow(
        "mcp_tool",
        "a tool of an MCP server",
        DEFAULT_TIMEOUT,
        (
            Key("server", "text", "the server's name", is_required=True),
            Key("tool", "text", "the tool's name", is_required=True),
            Key("input", "table", "its input; `${path.to.field}` is filled in from the event"),
        ),
        marks=("server", "tool"),
    ),
    HandlerRow(
        "python",
        "a function in a Python file",
        DEFAULT_TIMEOUT,
        (
            Key("file", "text", "the file, relative to this settings file", is_required=True),
            Key("function", "text", "the function's name", is_required=True),
        ),
        marks=("file", "function"),
    ),
)

MODEL_KEYS: tuple[Key, ...] = (
    Key("name", "text", "the model of hooks that name none; absent = a small one", default=""),
    Key("api", "text", "how to talk to it; absent = what there is a key for", choices=("anthropic", "openai", "cli")),
    Key("url", "text", "the server; absent = the maker's own", default=""),
    Key("key_env", "text", "the variable with the key; absent = the usual one", default=""),
    Key("key_command", "text", "a command that prints the key", default=""),
    Key("cli", "text", "the program to ask instead of a server", choices=("claude", "codex", "gemini")),
    Key("max_answer_tokens", "count", "the longest answer", default=1_000),
    Key("max_input_characters", "count", "the longest question; a longer one is a failure", default=60_000),
    Key("max_session_tokens", "count", "what all model hooks of a session may use", default=500_000),
    Key("max_daily_cost", "amount", "what all model hooks may cost a day; needs the prices", default=0.0),
    Key("input_price", "amount", "the price of a million tokens of questions", default=0.0),
    Key("output_price", "amount", "the price of a million tokens of answers", default=0.0),
    Key("in_batch", "flag", "let model hooks run for callers that run headless too", default=False),
)

SERVER_KEYS: tuple[Key, ...] = (
    Key("command", "text", "the program", is_required=True),
    Key("args", "texts", "its arguments", default=()),
    Key("env", "texts by name", "further environment variables"),
)

TOP_KEYS: tuple[Key, ...] = (
    Key("hooks", "any", "the hooks: a list of entries, or lists by event"),
    Key("disable_all_hooks", "flag", "turn off all hooks but the policy's; in the policy: all hooks", default=False),
    Key(
        "allow_managed_hooks_only",
        "flag",
        "let none but policy hooks run",
        default=False,
        layers=("policy",),
    ),
    Key(
        "rewrites_from",
        "text",
        "`policy` keeps rewriting to policy hooks; the strictest file wins",
        default="any",
        choices=("any", "policy"),
    ),
    Key("extra_events", "texts", "further event names that hooks may react to", default=()),
    Key("packs", "texts", "folders of packs and plugins, relative to this settings file", default=()),
    Key("pack", "tables by name", "built-in packs: `enabled`, and what each has as options", default={}),
    Key(
        "import_claude",
        "flag",
        "run the hooks of your own Claude Code settings in every other client",
        default=False,
        layers=("policy", "user"),
    ),
    Key("model", "keys", "the model that prompt and agent hooks ask", layers=("policy", "user"), inner=MODEL_KEYS),
    Key(
        "webhook_hosts",
        "hosts",
        "hosts, addresses and networks that webhooks may call although they are private or without TLS",
        default=(),
        layers=("policy", "user"),
    ),
    Key(
        "mcp_servers",
        "keys by name",
        "the servers of MCP tool hooks, by name",
        layers=("policy", "user"),
        inner=SERVER_KEYS,
    ),
    Key(
        "database",
        "text",
        "a PostgreSQL server that gets every decision too, as `postgresql://USER@HOST/DATABASE`; read when the daemon"
        " starts; a password belongs into `~/.pgpass`",
        layers=("policy", "user"),
    ),
    Key(
        "http",
        "http endpoint",
        "an endpoint for HTTP hooks on this machine, `{ enabled = true, port = 8744 }`; read when the daemon starts;"
        " without a port, any free one",
        layers=("policy", "user"),
    ),
    Key(
        "import_hooks",
        "texts",
        "run the hooks in these clients' own files in every other client",
        default=(),
        choices=IMPORTABLE,
        layers=("policy", "user"),
    ),
    Key("status_line", "command setting", "the command that makes the status line"),
    Key("file_suggestion", "command setting", "the command that suggests files"),
    Key("description", "text", "for people who read the file"),
    Key("$schema", "any", "", ignored=" "),
)

TABLE_KEYS = frozenset({"pack"})  # merged, entry by entry
LIST_KEYS = frozenset({"extra_events", "packs", "webhook_hosts", "import_hooks"})  # every layer adds to them
GROUP_KEYS = ("matcher", "matcher_type", "hooks", "event", "description")


def fold_spelling(name: str) -> str:
    """The same text for every spelling of a key."""
    return name.replace("_", "").replace("-", "").lower()


class Spellings:
    """Keys by every spelling they may have."""

    def __init__(self, keys: Iterable[Key]) -> None:
        self._by_folded = {fold_spelling(name): key for key in keys for name in (key.name, *key.also)}
        self._names = {fold_spelling(name): name for key in keys if not key.ignored for name in (key.name, *key.also)}

    def find(self, name: str) -> Key | None:
        return self._by_folded.get(fold_spelling(name))

    def is_named(self, spelled: str, name: str) -> bool:
        key = self.find(spelled)
        return key is not None and key.name == name

    def nearest(self, name: str) -> str:
        """Advice for a name that is not known."""
        from difflib import get_close_matches  # slow to import, and for mistakes alone

        found = get_close_matches(fold_spelling(name)[:60], self._names, n=1, cutoff=0.6)
        return f"did you mean `{self._names[found[0]]}`?" if found else "remove it"


def handler_of_table(name: str) -> HandlerRow | None:
    """The handler whose table has this name."""
    return _BY_TABLE.get(fold_spelling(name))


def handler_of_type(name: str) -> HandlerRow | None:
    """The handler that `type = name` means."""
    return _BY_TYPE.get(fold_spelling(name))


# What an entry needs one of: the keys by which a handler is known, and the names of its table.
HANDLER_WORDS = tuple(name for row in HANDLERS for name in (*row.marks, row.name, *row.tables))
HANDLER_TYPES = tuple(name for row in HANDLERS for name in (row.name, *row.types))

_BY_TABLE = {fold_spelling(name): row for row in HANDLERS for name in (row.name, *row.tables)}
_BY_TYPE = {fold_spelling(name): row for row in HANDLERS for name in (row.name, *row.types)}
TOP = Spellings(TOP_KEYS)
GROUP = Spellings([key for key in HOOK_KEYS if key.name in GROUP_KEYS] + [Key("hooks", "any", "handlers")])
FLAT = {row.name: Spellings(HOOK_KEYS + row.keys) for row in HANDLERS}
ENTRY = Spellings(HOOK_KEYS)
IN_TABLE = {row.name: Spellings(row.keys + tuple(key for key in HOOK_KEYS if key.in_handler)) for row in HANDLERS}
ANY_HANDLER_KEY = Spellings(key for row in HANDLERS for key in row.keys)
