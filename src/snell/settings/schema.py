"""
Every key of a settings file as data: its type, its default and one line of help.

The parser, the JSON Schema and the reference page come from the rows in `schema.json`. It is JSON because each process
reads it when it starts, and reading TOML takes milliseconds. A key may be spelled in snake_case, camelCase or
kebab-case. The keys of handlers are in `handlers/`, one file per type of handler.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from snell.engine.match import TYPES
from snell.model.catalogue import did_you_mean, fold_name
from snell.model.hooks import ASYNC_TIMEOUT
from snell.model.tools import ALL_KINDS
from snell.settings.client_hook_files import CLIENT_FORMATS


class Key(Struct, frozen=True):
    """One key of a settings file."""

    name: str
    type: str  # a name in value_check.READERS
    help: str = ""
    default: bool | int | float | str | tuple[str, ...] | dict[str, Any] | None = None
    aliases: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    choice_aliases: Mapping[str, str] = {}  # other spellings of a choice, and what is taken but not suggested
    is_required: bool = False
    in_handler: bool = False  # may also be written in the handler's own table
    layers: tuple[str, ...] = ()  # the only layers that may set it; empty = all
    ignored: str = ""  # accepted because a client has it; why it has no effect in Snell
    inner: tuple["Key", ...] = ()  # the keys of a table


class Tables(Struct, frozen=True):
    """The content of `schema.json`."""

    settings: tuple[Key, ...]  # the keys of a settings file
    hook: tuple[Key, ...]  # the keys of an entry in `hooks`
    pack: tuple[Key, ...]  # the keys of a `pack.toml`
    shapes: dict[str, dict[str, Any]]  # the JSON Schema of each type of value


def _read_tables() -> Tables:
    Key.__annotations__["inner"] = tuple[Key, ...]  # for msgspec, which would have to start the compiler for the name
    tables = msgspec.json.decode(Path(__file__).with_suffix(".json").read_bytes(), type=Tables)
    known_elsewhere: Mapping[str, Mapping[str, Any]] = {
        "matcher_type": {"choices": TYPES},
        "kinds": {"choices": ALL_KINDS},
        "async_timeout": {"default": ASYNC_TIMEOUT * 1000},
        "import_hooks": {"choices": tuple(CLIENT_FORMATS)},
    }
    settings, hook = (
        tuple(replace(key, **known_elsewhere.get(key.name, {})) for key in keys)
        for keys in (tables.settings, tables.hook)
    )
    return replace(tables, settings=settings, hook=hook)


TABLES = _read_tables()
TOP_KEYS, HOOK_KEYS = TABLES.settings, TABLES.hook
TABLE_KEYS = frozenset({"pack", "setup"})  # merged entry by entry
LIST_KEYS = frozenset({"extra_events", "packs", "webhook_hosts", "import_hooks"})  # the lists of all layers are joined
GROUP_KEYS = ("matcher", "matcher_type", "hooks", "event", "description")


class Spellings:
    """Finds keys by any of their spellings."""

    def __init__(self, keys: Iterable[Key]) -> None:
        named = [(name, key) for key in keys for name in (key.name, *key.aliases)]
        self._by_folded = {fold_name(name): key for name, key in named}
        self._names = [name for name, key in named if not key.ignored]

    def find(self, name: str) -> Key | None:
        return self._by_folded.get(fold_name(name))

    def is_named(self, spelled: str, name: str) -> bool:
        key = self.find(spelled)
        return key is not None and key.name == name

    def nearest(self, name: str) -> str:
        """Return advice for an unknown name."""
        return did_you_mean(name, self._names, "remove it")


TOP = Spellings(TOP_KEYS)
TABLES_OF_PACKS = Spellings([key for key in TOP_KEYS if key.name in TABLE_KEYS])
GROUP = Spellings([key for key in HOOK_KEYS if key.name in GROUP_KEYS] + [Key("hooks", "any", "handlers")])
ENTRY = Spellings(HOOK_KEYS)
