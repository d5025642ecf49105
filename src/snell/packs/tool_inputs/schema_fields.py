"""The fields that a schema knows, and which types they may have: also behind `$ref`, `allOf`, `anyOf` and `oneOf`."""

from collections.abc import Iterator, Mapping
from typing import Any

DEEPEST = 6
MOST = 200  # parts of a schema that are looked at
ANYTHING = "anything"
_TYPES: Mapping[str, tuple[type, ...]] = {
    "array": (list,),
    "object": (dict,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
}


def types_in(schema: Mapping[str, Any]) -> dict[str, tuple[type, ...]]:
    """Of each field that may be no text: the types that it may have."""
    return {name: found for name, row in rows_in(schema).items() if (found := _no_text(row, schema))}


def _no_text(row: Any, root: Mapping[str, Any]) -> tuple[type, ...]:
    names = kinds_in(row, root)
    if "string" in names or ANYTHING in names:
        return ()
    return tuple(kind for name in sorted(names) for kind in _TYPES.get(name, ()))


def rows_in(schema: Mapping[str, Any]) -> dict[str, Any]:
    """What a schema says of each field, wherever it says so; of two the first."""
    rows: dict[str, Any] = {}
    for part in _parts(schema, schema, [MOST], DEEPEST):
        properties = part.get("properties")
        rows = {**(properties if isinstance(properties, dict) else {}), **rows}
    return rows


def kinds_in(row: Any, root: Mapping[str, Any]) -> set[str]:
    """The names of the types that a value may have."""
    names: set[str] = set()
    for part in _parts(row, root, [MOST], DEEPEST):
        kind = part.get("type")
        names.update(each for each in (kind if isinstance(kind, list) else [kind]) if isinstance(each, str))
        given = part.get("enum", [part["const"]] if "const" in part else [])
        if isinstance(given, list) and any(isinstance(each, str) for each in given):
            names.add("string")
    return names or {ANYTHING}


def _parts(row: Any, root: Mapping[str, Any], left: list[int], depth: int) -> Iterator[Mapping[str, Any]]:
    """A schema, and those that it is put together from."""
    left[0] -= 1
    if not isinstance(row, dict) or depth <= 0 or left[0] < 0:
        return
    yield row
    if found := _behind(row.get("$ref"), root):
        yield from _parts(found, root, left, depth - 1)
    for key in ("allOf", "anyOf", "oneOf"):
        inner = row.get(key)
        for each in inner if isinstance(inner, list) else ():
            yield from _parts(each, root, left, depth - 1)


def _behind(ref: Any, root: Mapping[str, Any]) -> Any:
    """What a reference inside the schema points at; nothing is fetched."""
    if not isinstance(ref, str) or not ref.startswith("#/"):
        return None
    found: Any = root
    for part in ref[2:].split("/"):
        found = found.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(found, dict) else None
    return found
