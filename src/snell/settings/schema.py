"""
Every key of a settings file as data: its type, its default and one line of help.

The parser, the JSON Schema and the reference page come from these rows. A key may be spelled in snake_case, camelCase
or kebab-case. The keys of handlers are in `handlers/`, one file per type of handler.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from snell.engine.match import TYPES
from snell.model.hooks import ASYNC_TIMEOUT
from snell.model.tools import ALL_KINDS
from snell.settings.client_hook_files import CLIENT_FORMATS


class Key(Struct, frozen=True):
    """One key of a settings file."""

    name: str
    type: str  # a name in value_check.READERS
    help: str
    default: Any = None
    aliases: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    choice_aliases: Mapping[str, str] = {}  # other spellings of a choice
    is_required: bool = False
    in_handler: bool = False  # may also be written in the handler's own table
    layers: tuple[str, ...] = ()  # the only layers that may set it; empty = all
    ignored: str = ""  # accepted because a client has it; why it has no effect in Snell
    inner: tuple["Key", ...] = ()  # the keys of a table


HOOK_KEYS: tuple[Key, ...] = (
    Key("id", "text", "the hook's name in the journal; generated from the definition when absent", aliases=("name",)),
    Key("event", "text", "the event that the hook reacts to", is_required=True),
    Key("matcher", "matcher", "which tools, sources, ... of that event; absent = all", aliases=("tool_matcher",)),
    Key("matcher_type", "text", "the type of the matcher; derived from its characters when absent", choices=TYPES),
    Key("kinds", "texts or text", "only for these kinds of tool", aliases=("kind",), choices=ALL_KINDS),
    Key("if", "text", "a permission rule such as `Bash(git push *)` that must hold"),
    Key(
        "role",
        "text",
        "what the hook may do; absent = anything",
        choices=("rewrites", "judges", "informs", "watches"),
    ),
    Key("type", "text", "the type of handler, when its keys are in the entry itself"),
    Key(
        "timeout", "seconds", "time limit in seconds, at most 600; the default depends on the handler", in_handler=True
    ),
    Key("timeout_sec", "seconds", "the same as `timeout`", in_handler=True),
    Key("timeout_ms", "milliseconds", "the same in milliseconds", in_handler=True),
    Key(
        "async",
        "flag",
        "the answer does not wait for this hook",
        aliases=("async_mode",),
        default=False,
        in_handler=True,
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
        aliases=("force_sync_execution",),
        in_handler=True,
    ),
    Key("once", "flag", "at most one successful run a session", default=False, in_handler=True),
    Key(
        "on_failure",
        "text",
        "the effect of a failure of the hook; absent = `block` for a policy hook that can judge, else `allow`",
        choices=("allow", "ask", "block"),
        choice_aliases={"continue": "allow"},
        in_handler=True,
    ),
    Key(
        "exit_code_mode",
        "text",
        "`client`: exit code 2 denies; `strict`: every exit code but 0 denies",
        default="client",
        choices=("client", "strict"),
        in_handler=True,
    ),
    Key("enabled", "flag", "whether the hook runs at all", default=True),
    Key("status_message", "text", "the text to show while the hook runs", default="", in_handler=True),
    Key("group", "text", "a name for removing several hooks together", default=""),
    Key("description", "text", "a note for readers of the file", default=""),
    Key(
        "async_rewake",
        "flag",
        "async; a late denial wakes the agent, if the client supports that",
        default=False,
        in_handler=True,
    ),
    Key("rewake_message", "any", "", ignored="it belongs to asyncRewake", in_handler=True),
    Key("rewake_summary", "any", "", ignored="it belongs to asyncRewake", in_handler=True),
    Key("cloud", "any", "", ignored="hooks run on this machine", in_handler=True),
)

MODEL_KEYS: tuple[Key, ...] = (
    Key("name", "text", "the default model; absent = a small one", default=""),
    Key("api", "text", "the API; absent = the one that a key is set for", choices=("anthropic", "openai", "cli")),
    Key("url", "text", "the server; absent = the provider's own", default=""),
    Key("key_env", "text", "the environment variable with the key; absent = the usual one", default=""),
    Key("key_command", "text", "a command that prints the key", default=""),
    Key("cli", "text", "the program to ask instead of a server", choices=("claude", "codex", "gemini")),
    Key("max_answer_tokens", "count", "the longest answer", default=1_000),
    Key("max_input_characters", "count", "the longest question; a longer one is a failure", default=60_000),
    Key("max_session_tokens", "count", "most tokens for all model hooks of a session", default=500_000),
    Key("max_daily_cost", "amount", "most that all model hooks may cost a day; needs the prices", default=0.0),
    Key("input_price", "amount", "the price of a million tokens of questions", default=0.0),
    Key("output_price", "amount", "the price of a million tokens of answers", default=0.0),
    Key("in_batch", "flag", "run model hooks for headless callers too", default=False),
)

SERVER_KEYS: tuple[Key, ...] = (
    Key("command", "text", "the program", is_required=True),
    Key("args", "texts", "its arguments", default=()),
    Key("env", "texts by name", "further environment variables"),
)

TOP_KEYS: tuple[Key, ...] = (
    Key("hooks", "any", "the hooks: a list of entries, or lists by event"),
    Key("disable_all_hooks", "flag", "disable all hooks except policy hooks; in the policy: all hooks", default=False),
    Key(
        "allow_managed_hooks_only",
        "flag",
        "run only policy hooks",
        default=False,
        layers=("policy",),
    ),
    Key(
        "rewrites_from",
        "text",
        "`policy`: only policy hooks may rewrite; the strictest file wins",
        default="any",
        choices=("any", "policy"),
    ),
    Key("extra_events", "texts", "further event names that hooks may react to", default=()),
    Key("packs", "texts", "folders of packs and plugins, relative to this settings file", default=()),
    Key("pack", "tables by name", "built-in packs: `enabled`, and the options of each", default={}),
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
        "a PostgreSQL server that also gets every decision, as `postgresql://USER@HOST/DATABASE`; read when the daemon"
        " starts; put a password into `~/.pgpass`",
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
        choices=tuple(CLIENT_FORMATS),
        layers=("policy", "user"),
    ),
    Key("status_line", "command setting", "the command that makes the status line"),
    Key("file_suggestion", "command setting", "the command that suggests files"),
    Key("description", "text", "a note for readers of the file"),
    Key("$schema", "any", "", ignored=" "),
)

TABLE_KEYS = frozenset({"pack"})  # merged entry by entry
LIST_KEYS = frozenset({"extra_events", "packs", "webhook_hosts", "import_hooks"})  # the lists of all layers are joined
GROUP_KEYS = ("matcher", "matcher_type", "hooks", "event", "description")


def fold_spelling(name: str) -> str:
    """Return the same text for every spelling of a key."""
    return name.replace("_", "").replace("-", "").lower()


class Spellings:
    """Finds keys by any of their spellings."""

    def __init__(self, keys: Iterable[Key]) -> None:
        named = [(name, key) for key in keys for name in (key.name, *key.aliases)]
        self._by_folded = {fold_spelling(name): key for name, key in named}
        self._names = {fold_spelling(name): name for name, key in named if not key.ignored}

    def find(self, name: str) -> Key | None:
        return self._by_folded.get(fold_spelling(name))

    def is_named(self, spelled: str, name: str) -> bool:
        key = self.find(spelled)
        return key is not None and key.name == name

    def nearest(self, name: str) -> str:
        """Return advice for an unknown name."""
        from difflib import get_close_matches  # slow to import, and only needed for mistakes

        found = get_close_matches(fold_spelling(name)[:60], self._names, n=1, cutoff=0.6)
        return f"did you mean `{self._names[found[0]]}`?" if found else "remove it"


TOP = Spellings(TOP_KEYS)
GROUP = Spellings([key for key in HOOK_KEYS if key.name in GROUP_KEYS] + [Key("hooks", "any", "handlers")])
ENTRY = Spellings(HOOK_KEYS)
