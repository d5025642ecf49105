"""
Checks an input against its tool's schema, with a small part of JSON Schema: type, required, properties, enum, lengths,
items.

Used on input that a hook rewrote. Unknown keys are accepted, as the client accepts them; other keywords of the standard
are not checked.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from snell.model.protocols import Validate

Schema = Mapping[str, Any]


def _needs(**fields: str) -> Schema:
    return {
        "type": "object",
        "required": list(fields),
        "properties": {name: {"type": type_} for name, type_ in fields.items()},
    }


# Fields that these tools require in every client.
TOOL_SCHEMAS: Mapping[str, Schema] = {
    "Bash": _needs(command="string"),
    "Read": _needs(file_path="string"),
    "Write": _needs(file_path="string", content="string"),
    "Edit": _needs(file_path="string", old_string="string", new_string="string"),
    "Glob": _needs(pattern="string"),
    "Grep": _needs(pattern="string"),
    "WebFetch": _needs(url="string"),
    "WebSearch": _needs(query="string"),
}

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "null": (type(None),),
}


def validator(schemas: Mapping[str, Schema] = TOOL_SCHEMAS) -> Validate:
    """Return a function that lists what is wrong with an input of a tool; nothing without a schema."""

    def validate(tool: str, value: Mapping[str, Any]) -> Sequence[str]:
        schema = schemas.get(tool)
        return schema_errors(value, schema) if schema else ()

    return validate


def schema_errors(value: Any, schema: Schema, path: str = "") -> list[str]:
    """Return everything that is wrong with a value, each with its path."""
    at = f"`{path}`" if path else "the input"
    if not _has_type(value, schema.get("type")):
        wanted = schema["type"] if isinstance(schema["type"], str) else " or ".join(schema["type"])
        given = next((name for name, types in _TYPES.items() if type(value) in types), type(value).__name__)
        return [f"{at} is {given}, not {wanted}"]
    found = []
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{at} is not one of {', '.join(map(str, schema['enum']))}")
    if isinstance(value, str | list):
        found += _lengths(value, schema, at)
    if isinstance(value, dict):
        found += _members(value, schema, path)
    if isinstance(value, list) and isinstance(schema.get("items"), dict):
        for index, item in enumerate(value):
            found += schema_errors(item, schema["items"], f"{path}[{index}]")
    return found


def _members(value: dict[str, Any], schema: Schema, path: str) -> list[str]:
    prefix = f"{path}." if path else ""
    required, properties = schema.get("required"), schema.get("properties")
    names = required if isinstance(required, list | tuple) else ()
    found = [f"`{prefix}{name}` is missing" for name in names if name not in value]
    for name, inner in (properties if isinstance(properties, dict) else {}).items():
        if name in value and isinstance(inner, dict) and (type(value[name]) is not str or inner != {"type": "string"}):
            found += schema_errors(value[name], inner, f"{prefix}{name}")
    return found


def _lengths(value: str | list[Any], schema: Schema, at: str) -> list[str]:
    low, high = ("minLength", "maxLength") if isinstance(value, str) else ("minItems", "maxItems")
    found = []
    if len(value) < schema.get(low, 0):
        found.append(f"{at} is shorter than {schema[low]}")
    if high in schema and len(value) > schema[high]:
        found.append(f"{at} is longer than {schema[high]}")
    return found


def _has_type(value: Any, wanted: Any) -> bool:
    if type(value) in _TYPES.get(wanted if isinstance(wanted, str) else "", ()):
        return True  # nearly always, and asked for every field of every call
    names = wanted if isinstance(wanted, list | tuple) else [wanted]
    types = [_TYPES[name] for name in names if isinstance(name, str) and name in _TYPES]
    if not types:
        return True
    if isinstance(value, bool):
        return (bool,) in types
    return any(isinstance(value, each) for each in types)
