"""
Generate an input that a schema accepts: the least that it requires.

A field that cannot be generated (an unusual pattern, two demands that exclude each other) is left out and named.
"""

import math
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from snell.packs.tool_inputs.pattern_examples import text_for
from snell.packs.tool_inputs.schema_fields import resolve_ref

DEEPEST = 6
LONGEST = 200  # characters of a text, or entries of a list, that an example may have
_FORMATS = {
    "email": "a@example.com", "uri": "https://example.com", "url": "https://example.com", "date": "2025-01-31",
    "date-time": "2025-01-31T12:00:00Z", "time": "12:00:00Z", "uuid": "123e4567-e89b-12d3-a456-426614174000",
    "hostname": "example.com", "ipv4": "192.0.2.1", "ipv6": "2001:db8::1",
}  # fmt: skip
# Most patterns that people write accept one of these texts.
_TEXTS = (
    "...", "a", "A", "abc", "ABC", "1", "123", "a1", "name", "a-b", "a_b", "a.b", "/a", "/a/b", "a/b", "main", "v1.0.0",
    "1.0.0", "1.0", "true", "0", "#fff", "#ffffff", "en", "en-US", "PROJ-1", "ABC-123", "12345", "+15551234567", "10s",
    "a@example.com", "https://example.com", "2025-01-31", "12:00", "2025-01-31T12:00:00Z", "192.0.2.1", "example.com",
    "123e4567-e89b-12d3-a456-426614174000", "0" * 8, "0" * 16, "0" * 32, "0" * 40, "0" * 64, "a b", "A1", "$1", "*", "",
)  # fmt: skip


class Example(Struct, frozen=True):
    value: dict[str, Any]
    left_out: tuple[str, ...] = ()  # fields that could not be generated


def example_of(schema: Mapping[str, Any], is_good: Any) -> Example:
    """Return an example. `is_good` gets a value and a schema, and says whether the value passes."""
    maker = _Generator(schema, is_good)
    value = maker.make(schema, DEEPEST)
    fields = value if isinstance(value, dict) else {}
    wrong = {name for name in fields if not maker.fits(fields[name], maker.row_of(schema, name))}
    return Example({name: each for name, each in fields.items() if name not in wrong}, tuple(sorted(wrong)))


class _Generator:
    def __init__(self, root: Mapping[str, Any], is_good: Any) -> None:
        self._root, self._is_good = root, is_good

    def fits(self, value: Any, row: Any) -> bool:
        """Whether a value passes, also if the schema refers to its own definitions."""
        if not isinstance(row, dict):
            return True
        shared = {key: self._root[key] for key in ("$defs", "definitions") if key in self._root}
        return bool(self._is_good(value, {**shared, **row}))

    def row_of(self, schema: Mapping[str, Any], name: str) -> Any:
        properties = self._resolve(schema, DEEPEST).get("properties")
        return properties.get(name, {}) if isinstance(properties, dict) else {}

    def make(self, schema: Any, depth: int) -> Any:
        row = self._resolve(schema, depth)
        if depth <= 0:
            return None
        for value in self._candidates(row, depth):
            if self.fits(value, row):
                return value
        return self._of_type(row, depth)

    def _resolve(self, schema: Any, depth: int) -> Mapping[str, Any]:
        """Return the schema with references inside the schema resolved; nothing is fetched."""
        row = schema if isinstance(schema, dict) else {}
        for _ in range(max(1, depth)):
            ref = row.get("$ref")
            if not isinstance(ref, str) or not ref.startswith("#/"):
                break
            found = resolve_ref(ref, self._root)
            rest = {key: value for key, value in row.items() if key != "$ref"}
            row = {**(found if isinstance(found, dict) else {}), **rest}
        return row

    def _candidates(self, row: Mapping[str, Any], depth: int) -> Any:
        if "const" in row:
            yield row["const"]
        if "default" in row:
            yield row["default"]
        for key in ("examples", "enum"):
            if isinstance(row.get(key), list):
                yield from row[key][:50]
        for alternative in _alternatives(row):
            yield self.make(alternative, depth - 1)
        yield self._of_type(row, depth)

    def _of_type(self, row: Mapping[str, Any], depth: int) -> Any:
        kind = row.get("type")
        kinds = [each for each in kind if isinstance(each, str)] if isinstance(kind, list) else [kind]
        wanted = next((each for each in kinds if each != "null"), None) if kinds else None
        if wanted == "object" or (wanted is None and ("properties" in row or "required" in row)):
            return self._object(row, depth)
        if wanted == "array" or (wanted is None and ("items" in row or "minItems" in row)):
            return self._array(row, depth)
        if wanted in ("integer", "number"):
            return _number(row, is_whole=wanted == "integer")
        if wanted == "boolean":
            return True
        return None if kinds == ["null"] else self._text(row)

    def _object(self, row: Mapping[str, Any], depth: int) -> dict[str, Any]:
        properties = row.get("properties")
        rows = properties if isinstance(properties, dict) else {}
        required = row.get("required")
        names = [each for each in required if isinstance(each, str)] if isinstance(required, list) else []
        least = row.get("minProperties")
        more = [name for name in rows if name not in names]
        missing = (least if type(least) is int else 0) - len(names)
        return {name: self.make(rows.get(name, {}), depth - 1) for name in (*names, *more[: max(0, missing)])}

    def _array(self, row: Mapping[str, Any], depth: int) -> list[Any]:
        least = row.get("minItems")
        count = min(least, LONGEST) if type(least) is int and least > 0 else 0
        first = row.get("prefixItems")
        rows = first if isinstance(first, list) else []
        made = [self.make(rows[n] if n < len(rows) else row.get("items", {}), depth - 1) for n in range(count)]
        return _make_unique(made) if row.get("uniqueItems") is True else made

    def _text(self, row: Mapping[str, Any]) -> str:
        least, most = row.get("minLength"), row.get("maxLength")
        low = min(least, LONGEST) if type(least) is int and least > 0 else 0
        high = most if type(most) is int and most >= 0 else LONGEST
        for text in (_FORMATS.get(str(row.get("format")), "..."), text_for(row.get("pattern")), *_TEXTS):
            for each in (text, text.ljust(low, "."), (text * low)[:low] if text else "", text[:high]):
                if self.fits(each, row):
                    return each
        return "...".ljust(low, ".")[:high]


def _alternatives(row: Mapping[str, Any]) -> Any:
    """Yield the schema merged with one of its alternatives, or with all of its parts."""
    parts = row.get("allOf")
    if isinstance(parts, list) and parts:
        yield _merge(row, "allOf", *parts)
    for key in ("anyOf", "oneOf"):
        choices = row.get(key)
        for each in choices[:20] if isinstance(choices, list) else ():
            yield _merge(row, key, each)


def _merge(row: Mapping[str, Any], key: str, *parts: Any) -> dict[str, Any]:
    merged = {name: value for name, value in row.items() if name != key}
    for part in (each for each in parts if isinstance(each, dict)):
        for name, value in part.items():
            if name == "properties" and isinstance(value, dict) and isinstance(merged.get(name), dict):
                merged[name] = {**merged[name], **value}
            elif name == "required" and isinstance(value, list) and isinstance(merged.get(name), list):
                merged[name] = [*merged[name], *value]
            else:
                merged[name] = value
    return merged


def _number(row: Mapping[str, Any], *, is_whole: bool) -> float:
    low, high = _bound(row, "minimum", "exclusiveMinimum", 1), _bound(row, "maximum", "exclusiveMaximum", -1)
    value: float = 1
    if low is not None and value < low:
        value = low
    if high is not None and value > high:
        value = high
    step = row.get("multipleOf")
    if isinstance(step, int | float) and not isinstance(step, bool) and step > 0:
        value = math.ceil(value / step) * step
    return math.ceil(value) if is_whole else value


def _bound(row: Mapping[str, Any], name: str, exclusive: str, step: int) -> float | None:
    at, beyond = row.get(name), row.get(exclusive)
    if isinstance(beyond, int | float) and not isinstance(beyond, bool):
        return beyond + step
    if isinstance(at, int | float) and not isinstance(at, bool):
        return at + step if beyond is True else at
    return None


def _make_unique(values: list[Any]) -> list[Any]:
    def other(value: Any, number: int) -> Any:
        if isinstance(value, str):
            return f"{value}{number}"
        return value + number if isinstance(value, int | float) and not isinstance(value, bool) else value

    return [other(value, number) if number else value for number, value in enumerate(values)]
