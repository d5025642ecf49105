"""Generate the JSON Schema of settings files and the rows of their reference page."""

from typing import Any

from msgspec import Struct

from snell.model.catalogue import CATALOGUE
from snell.settings.handler_types import HandlerType, handler_types
from snell.settings.schema import GROUP_KEYS, HOOK_KEYS, TOP_KEYS, Key

_TEXT = {"type": "string"}
_TEXTS = {"type": "array", "items": _TEXT}
_TYPES: dict[str, dict[str, Any]] = {
    "text": _TEXT,
    "method": _TEXT,
    "flag": {"type": "boolean"},
    "texts": _TEXTS,
    "hosts": _TEXTS,
    "texts or text": {"anyOf": [_TEXT, _TEXTS]},
    "seconds": {"type": "number", "exclusiveMinimum": 0},
    "amount": {"type": "number", "minimum": 0},
    "milliseconds": {"type": "number", "exclusiveMinimum": 0},
    "table": {"type": "object"},
    "tables by name": {"type": "object", "additionalProperties": {"type": "object"}},
    "texts by name": {"type": "object", "additionalProperties": _TEXT},
    "http endpoint": {
        "type": "object",
        "properties": {"enabled": {"type": "boolean"}, "port": {"type": "integer", "minimum": 0, "maximum": 65535}},
        "additionalProperties": False,
    },
    "command setting": {"anyOf": [_TEXT, {"type": "object", "required": ["command"]}]},
    "matcher": {
        "anyOf": [
            _TEXT,
            {"type": "object", "properties": {"type": _TEXT, "pattern": _TEXT}, "additionalProperties": False},
        ]
    },
    "count": {"type": "integer", "exclusiveMinimum": 0},
    "keys": {"type": "object"},
    "keys by name": {"type": "object", "additionalProperties": {"type": "object"}},
    "any": {},
}


class DocsRow(Struct, frozen=True):
    place: str
    name: str
    type: str
    default: str
    help: str
    spellings: tuple[str, ...]


def json_schema() -> dict[str, Any]:
    """Return a schema for editors. The parser is stricter: it also checks keys that depend on each other."""
    top = {name: shape for key in TOP_KEYS if key.name != "hooks" for name, shape in _properties(key).items()}
    entry = {"$ref": "#/$defs/entry"}
    by_event = {"type": "array", "items": {"anyOf": [{"$ref": "#/$defs/group"}, entry]}}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Snell settings",
        "type": "object",
        "properties": {
            **top,
            "hooks": {
                "description": _row(TOP_KEYS, "hooks").help,
                "anyOf": [
                    {"type": "array", "items": entry},
                    {"type": "object", "properties": dict.fromkeys(CATALOGUE, by_event)},
                ],
            },
        },
        "additionalProperties": False,
        "$defs": {"entry": _entry(), "group": _group(), **{each.name: _handler(each) for each in handler_types().all}},
    }


def docs_rows() -> list[DocsRow]:
    """Return a row for every key, for the reference page."""
    rows = [("settings", key) for key in TOP_KEYS] + [("hook", key) for key in HOOK_KEYS]
    rows += [(f"{each.name} handler", key) for each in handler_types().all for key in each.keys]
    rows += [(f"`{key.name}` table", inner) for key in TOP_KEYS for inner in key.inner]
    return [
        DocsRow(place, key.name, key.type, _default_text(key), key.help, spellings(key))
        for place, key in rows
        if not key.ignored
    ]


def spellings(key: Key) -> tuple[str, ...]:
    """Return the usual spellings of a key; the parser accepts any mixture."""
    names = (key.name, *key.aliases)
    return tuple(dict.fromkeys(each for name in names for each in (name, _camel(name), name.replace("_", "-"))))


def _entry() -> dict[str, Any]:
    flat = [key for each in handler_types().all for key in each.keys]
    properties = {name: shape for key in (*HOOK_KEYS, *flat) for name, shape in _properties(key).items()}
    for each in handler_types().all:
        for name in (each.name, *each.aliases):
            own = {"$ref": f"#/$defs/{each.name}"}
            properties[name] = {"anyOf": [own, properties[name]]} if name in properties else own
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _group() -> dict[str, Any]:
    keys = [key for key in HOOK_KEYS if key.name in GROUP_KEYS]
    properties = {name: shape for key in keys for name, shape in _properties(key).items()}
    hooks = {"type": "array", "items": {"$ref": "#/$defs/entry"}}
    return {"type": "object", "properties": {**properties, "hooks": hooks}, "required": ["hooks"]}


def _handler(handler_type: HandlerType) -> dict[str, Any]:
    keys = (*handler_type.keys, *(key for key in HOOK_KEYS if key.in_handler))
    properties = {name: shape for key in keys for name, shape in _properties(key).items()}
    required = [key.name for key in handler_type.keys if key.is_required and len(spellings(key)) == 1]
    return {
        "type": "object",
        "description": handler_type.help,
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _properties(key: Key) -> dict[str, dict[str, Any]]:
    shape: dict[str, Any] = dict(_TYPES[key.type])
    if key.inner:
        table = {
            "type": "object",
            "properties": {name: each for inner in key.inner for name, each in _properties(inner).items()},
            "additionalProperties": False,
        }
        shape = table if key.type == "keys" else {"type": "object", "additionalProperties": table}
    if key.choices and key.type == "text":
        shape["enum"] = [*key.choices, *key.choice_aliases]
    if key.help:
        shape["description"] = key.help
    if key.default is not None:
        shape["default"] = list(key.default) if isinstance(key.default, tuple) else key.default
    return dict.fromkeys(spellings(key), shape)


def _default_text(key: Key) -> str:
    if key.is_required:
        return "required"
    if key.default is None:
        return ""
    return str(key.default).lower() if isinstance(key.default, bool) else str(key.default)


def _row(keys: tuple[Key, ...], name: str) -> Key:
    return next(key for key in keys if key.name == name)


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)
