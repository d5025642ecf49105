"""
The types of handlers: what each module in `handlers/` declares, the registry of them, and which one an entry means.

Handlers are a layer above settings, so their modules are loaded by name: those in the table `snell.handlers.HANDLERS`,
and those that other distributions declare in the entry-point group `snell.handlers`, as `TYPE = "their.module"`.
"""

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from msgspec import Struct
from msgspec.structs import replace

from snell.model.catalogue import did_you_mean, fold_name
from snell.model.context import Context
from snell.model.decision import Outcome
from snell.model.errors import SettingsError
from snell.model.events import Event
from snell.model.hooks import DEFAULT_TIMEOUT, LONGEST_TIMEOUT, Handler, Hook
from snell.settings.parse_types import Entry, ParseState
from snell.settings.schema import ENTRY, HOOK_KEYS, Key, Spellings
from snell.settings.value_tree import InvalidValueError, Node, noun
from snell.system.version import any_declares

if TYPE_CHECKING:
    from snell.settings.command_files import NamedFiles  # slow to import, and only needed in projects

GROUP = "snell.handlers"


class HandlerEntry(Struct, frozen=True):
    """The checked keys of one entry, for the `parse` function of a handler type."""

    values: Mapping[str, Any]
    lines: Mapping[str, int]
    line: int
    state: ParseState

    def line_of(self, name: str) -> int:
        return self.lines.get(name, self.line)


class HandlerType(Struct, frozen=True, kw_only=True):
    """One way of running a hook: its keys in a settings file, and what the runtime must know to run it."""

    name: str
    help: str
    settings: type[Handler]  # the struct that an entry becomes; its fields are named like the keys
    keys: tuple[Key, ...]
    default_timeout: float = DEFAULT_TIMEOUT  # seconds
    recommended_timeout: float = LONGEST_TIMEOUT  # a longer time limit gets a hint
    aliases: tuple[str, ...] = ()  # further names of its table, and further values of `type`
    identified_by: tuple[str, ...] = ()  # keys that show which type is meant where an entry has no `type`
    defaults_by_name: Mapping[str, Mapping[str, Any]] = {}  # where defaults depend on the name that the entry uses
    parse: Callable[[HandlerEntry], Handler] | None = None  # instead of `build`; raises InvalidValueError
    files: Callable[[Any, Path, Mapping[str, str]], "NamedFiles"] | None = None  # local files that `snell trust` pins
    extra: str = ""  # the extra of Snell that it needs
    waits_for_network: bool = False  # such hooks cost a thread and nothing more, so many may run at a time
    asks_model: bool = False  # asks a language model; its extra is needed only for models over HTTP

    def build(self, entry: HandlerEntry) -> Handler:
        """Make the struct of this type from the values of its keys."""
        return self.settings(**{key.name: entry.values[key.name] for key in self.keys if key.name in entry.values})


class HandlerModule(Protocol):
    """What a module of a handler has."""

    TYPE: HandlerType

    def run(self, hook: Hook, event: Event, context: Context) -> Outcome: ...


class HandlerTypes:
    """The handler types of this installation, found by the words of a settings file."""

    def __init__(self) -> None:
        self.all: tuple[HandlerType, ...] = ()
        self.not_loaded: dict[str, str] = {}  # why a type of another distribution cannot be used, by its name
        self.keys_in_entry: dict[str, Spellings] = {}  # keys of an entry without a table for its handler, by type
        self.keys_in_table: dict[str, Spellings] = {}  # keys of a handler's own table, by type
        self._by_name: dict[str, HandlerType] = {}

    def add(self, added: HandlerType) -> None:
        """Register a type. Raises SettingsError when one of its words already means something else."""
        taken = {fold_name(name): each.name for each in self.all for name in each.identified_by}
        taken |= {name: each.name for name, each in self._by_name.items()}
        for name in (added.name, *added.aliases, *added.identified_by):
            if other := taken.get(fold_name(name)):
                raise SettingsError(f"`{name}` already means a {other} handler")
        if common := next((key.name for key in added.keys if ENTRY.find(key.name)), ""):
            raise SettingsError(f"`{common}` is already a key of every hook")
        self.all += (added,)
        self._by_name |= {fold_name(name): added for name in (added.name, *added.aliases)}
        self.keys_in_entry[added.name] = Spellings(HOOK_KEYS + added.keys)
        self.keys_in_table[added.name] = Spellings(added.keys + tuple(key for key in HOOK_KEYS if key.in_handler))

    def find(self, name: str) -> HandlerType | None:
        """Return the type with this name or alias."""
        return self._by_name.get(fold_name(name))

    def has_key(self, name: str) -> bool:
        """Whether any type has a key of this name."""
        return any(keys.find(name) for keys in self.keys_in_table.values())

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for each in self.all for name in (each.name, *each.aliases))


@cache
def handler_types() -> HandlerTypes:
    """Load every handler type, once per process."""
    types = HandlerTypes()
    for module in _built_in_modules().values():
        types.add(_load(module).TYPE)
    for name, module in _entry_point_modules().items():
        try:
            added = _load(module).TYPE
            if added.name != name:
                raise SettingsError(f"its entry point is `{name}`, and its type is `{added.name}`")
            types.add(added)
        except SettingsError as error:
            types.not_loaded[name] = str(error)
        except Exception as error:  # noqa: BLE001 - code of another distribution must not stop the settings
            types.not_loaded[name] = f"{type(error).__name__}: {error}"
    return types


@cache
def handler_module(kind: str) -> HandlerModule | None:
    """Load the module that runs one kind of hook; None when there is none."""
    name = _built_in_modules().get(kind) or _entry_point_modules().get(kind)
    return _load(name) if name else None


def _load(module: str) -> HandlerModule:
    return cast("HandlerModule", import_module(module))


def _built_in_modules() -> Mapping[str, str]:
    modules: Mapping[str, str] = import_module("snell.handlers").HANDLERS
    return modules


@cache
def _entry_point_modules() -> Mapping[str, str]:
    if not any_declares(GROUP):
        return {}
    from importlib.metadata import entry_points  # slow to import, and only needed with such a distribution

    return {point.name: point.module for point in entry_points(group=GROUP)}


class HandlerPart(Struct, frozen=True):
    """An entry in two parts: the handler's own table (if it has one) and the other keys."""

    type: HandlerType
    name: str  # the name or alias that the entry uses for the type
    rest: dict[str, Node]
    table: dict[str, Node] | None = None

    def defaults_of(self, values: dict[str, Any]) -> dict[str, Any]:
        """Return the values that depend on the name of the type, so that two names never look the same."""
        defaults = self.type.defaults_by_name
        own = next((defaults[name] for name in defaults if fold_name(name) == fold_name(self.name)), {})
        return {name: values.get(name, default) for name, default in own.items()}


def handler_part(entry: Entry) -> HandlerPart:
    """Return the one handler of an entry. Raises InvalidValueError when there is none, or more than one."""
    types = handler_types()
    tables = [
        HandlerPart(found, name, {}, node.value)
        for name, node in entry.fields.items()
        if node.is_table and (found := types.find(name))
    ]
    rest = {name: node for name, node in entry.fields.items() if not (node.is_table and types.find(name))}
    type_node = next((node for name, node in rest.items() if ENTRY.is_named(name, "type")), None)
    named = _named_type(type_node) if type_node else None
    parts = tables + _parts_in_entry(rest, named, has_table=bool(tables))
    names = [part.type.name for part in parts]
    names += [named.type.name] if named and parts and parts[0].type is not named.type else []
    if len(names) > 1:
        raise InvalidValueError(f"the hook has two handlers: {' and '.join(names[:2])}", entry.line, "keep one of them")
    if not parts:
        raise _no_handler(entry)
    return replace(parts[0], rest=rest)


def _named_type(node: Node) -> HandlerPart:
    """Return the handler that `type` names."""
    types = handler_types()
    name = node.value if isinstance(node.value, str) else ""
    if found := types.find(name):
        return HandlerPart(found, name, {})
    if why := types.not_loaded.get(name):
        advice = "update or remove the package that has it"
        raise InvalidValueError(f"the handler type `{name}` cannot be loaded: {why}", node.line, advice)
    shown = f"`{name[:80]}`" if isinstance(node.value, str) else noun(node.value)
    advice = did_you_mean(str(node.value), types.names, f"use one of {', '.join(types.names)}")
    raise InvalidValueError(f"{shown} is not a type of handler", node.line, advice)


def _parts_in_entry(rest: dict[str, Node], named: HandlerPart | None, *, has_table: bool) -> list[HandlerPart]:
    """Return the handlers whose keys are in the entry itself; `type` decides about keys that several handlers have."""
    present = {fold_name(name) for name in rest}
    found = [
        HandlerPart(each, each.name, rest)
        for each in handler_types().all
        if any(fold_name(name) in present for name in each.identified_by)
    ]
    if named is None:
        return found
    own = {fold_name(key.name) for key in named.type.keys}
    others = [
        part
        for part in found
        if part.type is not named.type and not own.issuperset(map(fold_name, part.type.identified_by))
    ]
    # With a table in the entry, `type` only repeats the name of the table.
    return ([named] if own & present or not has_table else []) + others


def _no_handler(entry: Entry) -> InvalidValueError:
    types = handler_types()
    plain = next((node for name, node in entry.fields.items() if types.find(name) and not node.is_table), None)
    if plain:
        return InvalidValueError("the handler must be a table", plain.line, "write its keys below [hooks.NAME]")
    # Every entry must have one of these: an identifying key such as `url`, or the name of a handler's table.
    words = [word for each in types.all for word in (*each.identified_by, each.name, *each.aliases)]
    for name, node in entry.fields.items():
        if not ENTRY.find(name) and (advice := did_you_mean(name, words)):
            return InvalidValueError(f"`{name[:80]}` is not a key of a hook", node.line, advice)
    return InvalidValueError("the hook has no handler", entry.line, "add a `command`, or one of the handler tables")
