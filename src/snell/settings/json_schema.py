"""Generate the JSON Schema of settings files."""

from collections.abc import Iterable
from typing import Any

from snell.model.catalogue import CATALOGUE
from snell.settings.handler_types import HandlerType, handler_types
from snell.settings.schema import GROUP_KEYS, HOOK_KEYS, TABLES, TOP_KEYS, Key


def json_schema() -> dict[str, Any]:
    """Return a schema for editors. The parser is stricter: it also checks keys that depend on each other."""
    top = _shapes(key for key in TOP_KEYS if key.name != "hooks")
    entry = {"$ref": "#/$defs/entry"}
    by_event = {"type": "array", "items": {"anyOf": [{"$ref": "#/$defs/group"}, entry]}}
    shared = _shapes(key for key in HOOK_KEYS if key.name in GROUP_KEYS)
    inner = {**shared, "hooks": {"type": "array", "items": entry}}
    group = {"type": "object", "properties": inner, "required": ["hooks"]}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Snell settings",
        "type": "object",
        "properties": {
            **top,
            "hooks": {
                "description": next(key.help for key in TOP_KEYS if key.name == "hooks"),
                "anyOf": [
                    {"type": "array", "items": entry},
                    {"type": "object", "properties": dict.fromkeys(CATALOGUE, by_event)},
                ],
            },
        },
        "additionalProperties": False,
        "$defs": {"entry": _entry(), "group": group, **{each.name: _handler(each) for each in handler_types().all}},
    }


def spellings(key: Key) -> tuple[str, ...]:
    """Return the usual spellings of a key; the parser accepts any mixture."""
    names = (key.name, *key.aliases)
    return tuple(dict.fromkeys(each for name in names for each in (name, _camel(name), name.replace("_", "-"))))


def _entry() -> dict[str, Any]:
    flat = [key for each in handler_types().all for key in each.keys]
    properties = _shapes((*HOOK_KEYS, *flat))
    for each in handler_types().all:
        for name in (each.name, *each.aliases):
            own = {"$ref": f"#/$defs/{each.name}"}
            properties[name] = {"anyOf": [own, properties[name]]} if name in properties else own
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _handler(handler_type: HandlerType) -> dict[str, Any]:
    required = [key.name for key in handler_type.keys if key.is_required and len(spellings(key)) == 1]
    return {
        "type": "object",
        "description": handler_type.help,
        "properties": _shapes((*handler_type.keys, *(key for key in HOOK_KEYS if key.in_handler))),
        "required": required,
        "additionalProperties": False,
    }


def _shapes(keys: Iterable[Key]) -> dict[str, dict[str, Any]]:
    """Return the shape of each key, under all its usual spellings."""
    return {name: shape for key in keys for shape in (_shape(key),) for name in spellings(key)}


def _shape(key: Key) -> dict[str, Any]:
    shape: dict[str, Any] = dict(TABLES.shapes[key.type])
    if key.inner:
        table = {"type": "object", "properties": _shapes(key.inner), "additionalProperties": False}
        shape = table if key.type == "keys" else {"type": "object", "additionalProperties": table}
    if key.choices and key.type == "text":
        shape["enum"] = [*key.choices, *key.choice_aliases]
    if key.help:
        shape["description"] = key.help
    if key.default is not None:
        shape["default"] = list(key.default) if isinstance(key.default, tuple) else key.default
    return shape


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)
