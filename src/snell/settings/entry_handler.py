"""Find which handler a hook entry means, and where the handler's keys are."""

from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from snell.model.catalogue import nearest
from snell.settings.handler_types import HandlerType, handler_types
from snell.settings.parse_types import Entry
from snell.settings.problems import InvalidValueError
from snell.settings.schema import ENTRY, fold_spelling
from snell.settings.value_tree import Node, noun


class HandlerPart(Struct, frozen=True):
    """An entry in two parts: the handler's own table (if it has one) and the other keys."""

    type: HandlerType
    name: str  # the name or alias that the entry uses for the type
    rest: dict[str, Node]
    table: dict[str, Node] | None = None

    def defaults_of(self, values: dict[str, Any]) -> dict[str, Any]:
        """Return the values that depend on the name of the type, so that two names never look the same."""
        defaults = self.type.defaults_by_name
        own = next((defaults[name] for name in defaults if fold_spelling(name) == fold_spelling(self.name)), {})
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
    near = nearest(str(node.value)[:60], types.names)
    advice = f"did you mean `{near}`?" if near else f"use one of {', '.join(types.names)}"
    raise InvalidValueError(f"{shown} is not a type of handler", node.line, advice)


def _parts_in_entry(rest: dict[str, Node], named: HandlerPart | None, *, has_table: bool) -> list[HandlerPart]:
    """Return the handlers whose keys are in the entry itself; `type` decides about keys that several handlers have."""
    present = {fold_spelling(name) for name in rest}
    found = [
        HandlerPart(each, each.name, rest)
        for each in handler_types().all
        if any(fold_spelling(name) in present for name in each.identified_by)
    ]
    if named is None:
        return found
    own = {fold_spelling(key.name) for key in named.type.keys}
    others = [
        part
        for part in found
        if part.type is not named.type and not own.issuperset(map(fold_spelling, part.type.identified_by))
    ]
    # With a table in the entry, `type` only repeats the name of the table.
    return ([named] if own & present or not has_table else []) + others


def _no_handler(entry: Entry) -> InvalidValueError:
    types = handler_types()
    plain = next((node for name, node in entry.fields.items() if types.find(name) and not node.is_table), None)
    if plain:
        return InvalidValueError("the handler must be a table", plain.line, "write its keys below [hooks.NAME]")
    for name, node in entry.fields.items():
        if not ENTRY.find(name) and (near := nearest(name[:60], types.entry_words)):
            return InvalidValueError(f"`{name[:80]}` is not a key of a hook", node.line, f"did you mean `{near}`?")
    return InvalidValueError("the hook has no handler", entry.line, "add a `command`, or one of the handler tables")
