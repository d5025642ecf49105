"""Find the fields of a schema and their types, also behind `$ref`, `allOf`, `anyOf` and `oneOf`."""

from collections.abc import Iterator, Mapping
from typing import Any

DEEPEST = 6
MOST = 200  # parts of a schema that are read
ANYTHING = "anything"
_TYPES: Mapping[str, tuple[type, ...]] = {
    "array": (list,),
    "object": (dict,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
}


def types_in(schema: Mapping[str, Any]) -> dict[str, tuple[type, ...]]:
    """Return the types of each field that cannot be text."""
    return {name: found for name, row in rows_in(schema).items() if (found := _types_without_text(row, schema))}


def _types_without_text(row: Any, root: Mapping[str, Any]) -> tuple[type, ...]:
    names = kinds_in(row, root)
    if "string" in names or ANYTHING in names:
        return ()
    return tuple(kind for name in sorted(names) for kind in _TYPES.get(name, ()))


def rows_in(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of each field; the first, if there are several."""
    rows: dict[str, Any] = {}
    for part in _parts(schema, schema, [MOST], DEEPEST):
        properties = part.get("properties")
        rows = {**(properties if isinstance(properties, dict) else {}), **rows}
    return rows


def kinds_in(row: Any, root: Mapping[str, Any]) -> set[str]:
    """Return the names of the types that a value may have."""
    names: set[str] = set()
    for part in _parts(row, root, [MOST], DEEPEST):
        kind = part.get("type")
        names.update(each for each in (kind if isinstance(kind, list) else [kind]) if isinstance(each, str))
        given = part.get("enum", [part["const"]] if "const" in part else [])
        if isinstance(given, list) and any(isinstance(each, str) for each in given):
            names.add("string")
    return names or {ANYTHING}


def _parts(row: Any, root: Mapping[str, Any], left: list[int], depth: int) -> Iterator[Mapping[str, Any]]:
    """Yield a schema, and those that it is composed of."""
    left[0] -= 1
    if not isinstance(row, dict) or depth <= 0 or left[0] < 0:
        return
    yield row
    if found := resolve_ref(row.get("$ref"), root):
        yield from _parts(found, root, left, depth - 1)
    for key in ("allOf", "anyOf", "oneOf"):
        inner = row.get(key)
        for each in inner if isinstance(inner, list) else ():
            yield from _parts(each, root, left, depth - 1)


def resolve_ref(ref: Any, root: Mapping[str, Any]) -> Any:
    """Return what a reference inside the schema points at, or None; nothing is fetched."""
    if not isinstance(ref, str) or not ref.startswith("#/"):
        return None
    found: Any = root
    for part in ref[2:].split("/"):
        found = found.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(found, dict) else None
    return found
