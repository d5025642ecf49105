"""
Generate an input that a schema accepts: the least that it requires.

A field that cannot be generated (an unusual pattern, two demands that exclude each other) is left out and named.
"""

import math
import re
from collections.abc import Iterator, Mapping
from re import _parser as parser  # type: ignore[attr-defined] # not documented, and the same since 3.11
from typing import Any

from msgspec import Struct

from snell.model.events import as_table
from snell.packs.tool_inputs.tool_schemas import resolve_ref

DEEPEST = 6
LONGEST = 200  # characters of a text, or entries of a list, that an example may have
_FORMATS = {
    "email": "a@example.com", "uri": "https://example.com", "url": "https://example.com", "date": "2025-01-31",
    "date-time": "2025-01-31T12:00:00Z", "time": "12:00:00Z", "uuid": "123e4567-e89b-12d3-a456-426614174000",
    "hostname": "example.com", "ipv4": "192.0.2.1", "ipv6": "2001:db8::1",
}  # fmt: skip
# For patterns from which no text can be generated, such as those that look ahead.
_TEXTS = ("...", "a", "ABC", "a1", "A1", "123", "a-b", "a_b", "a.b", "/a/b", "1.0.0", "en-US", *_FORMATS.values(), "")
_CLASS_EXAMPLES = {"CATEGORY_DIGIT": "0", "CATEGORY_WORD": "a", "CATEGORY_SPACE": " ", "CATEGORY_NOT_DIGIT": "a"}
_OTHERS = "aA0 -_./"


class Example(Struct, frozen=True):
    value: dict[str, Any]
    left_out: tuple[str, ...] = ()  # fields that could not be generated


def example_of(schema: Mapping[str, Any], is_good: Any) -> Example:
    """Return an example. `is_good` gets a value and a schema, and says whether the value passes."""
    maker = _Generator(schema, is_good)
    fields = as_table(maker.make(schema, DEEPEST))
    rows = _get(maker.resolve(schema, DEEPEST), "properties", {})
    wrong = {name for name in fields if not maker.fits(fields[name], rows.get(name))}
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

    def make(self, schema: Any, depth: int) -> Any:
        if depth <= 0:
            return None
        row = self.resolve(schema, depth)
        for value in self._candidates(row, depth):
            if self.fits(value, row):
                return value
        return self._of_type(row, depth)

    def resolve(self, schema: Any, depth: int) -> Mapping[str, Any]:
        """Return the schema with references inside the schema resolved; nothing is fetched."""
        row = schema if isinstance(schema, dict) else {}
        for _ in range(max(1, depth)):
            ref = row.get("$ref")
            if not isinstance(ref, str) or not ref.startswith("#/"):
                break
            rest = {key: value for key, value in row.items() if key != "$ref"}
            row = {**as_table(resolve_ref(ref, self._root)), **rest}
        return row

    def _candidates(self, row: Mapping[str, Any], depth: int) -> Iterator[Any]:
        yield from (row[key] for key in ("const", "default") if key in row)
        for key in ("examples", "enum"):
            yield from _get(row, key, [])[:50]
        for alternative in _alternatives(row):
            yield self.make(alternative, depth - 1)
        yield self._of_type(row, depth)

    def _of_type(self, row: Mapping[str, Any], depth: int) -> Any:
        kind = row.get("type")
        kinds = [each for each in kind if isinstance(each, str)] if isinstance(kind, list) else [kind]
        wanted = next((each for each in kinds if each != "null"), None)
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
        rows = _get(row, "properties", {})
        names = [each for each in _get(row, "required", []) if isinstance(each, str)]
        more = [name for name in rows if name not in names]
        missing = max(0, _get(row, "minProperties", 0) - len(names))
        return {name: self.make(rows.get(name, {}), depth - 1) for name in (*names, *more[:missing])}

    def _array(self, row: Mapping[str, Any], depth: int) -> list[Any]:
        first, rest = _get(row, "prefixItems", []), row.get("items", {})
        count = min(max(0, _get(row, "minItems", 0)), LONGEST)
        made = [self.make(first[n] if n < len(first) else rest, depth - 1) for n in range(count)]
        return [_other(*each) for each in enumerate(made)] if row.get("uniqueItems") is True else made

    def _text(self, row: Mapping[str, Any]) -> str:
        low, high = min(max(0, _get(row, "minLength", 0)), LONGEST), max(0, _get(row, "maxLength", LONGEST))
        for text in (_FORMATS.get(str(row.get("format")), "..."), text_for(row.get("pattern")), *_TEXTS):
            for each in (text, text.ljust(low, "."), (text * low)[:low], text[:high]):
                if self.fits(each, row):
                    return each
        return "...".ljust(low, ".")[:high]


def _get(row: Mapping[str, Any], key: str, default: Any) -> Any:
    """Return a value of the same type as the default, else the default: a schema may contain anything."""
    return row[key] if type(row.get(key)) is type(default) else default


def _alternatives(row: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the schema merged with all of its parts, or with one of its alternatives."""
    if parts := _get(row, "allOf", []):
        yield _merge(row, "allOf", *parts)
    for key in ("anyOf", "oneOf"):
        yield from (_merge(row, key, each) for each in _get(row, key, [])[:20])


def _merge(row: Mapping[str, Any], key: str, *parts: Any) -> dict[str, Any]:
    merged = {name: value for name, value in row.items() if name != key}
    for part in (each for each in parts if isinstance(each, dict)):
        for name, value in part.items():
            if name == "properties" and isinstance(value, dict):
                merged[name] = {**_get(merged, name, {}), **value}
            elif name == "required" and isinstance(value, list):
                merged[name] = [*_get(merged, name, []), *value]
            else:
                merged[name] = value
    return merged


def _number(row: Mapping[str, Any], *, is_whole: bool) -> float:
    low, high = _bound(row, "minimum", "exclusiveMinimum", 1), _bound(row, "maximum", "exclusiveMaximum", -1)
    value = min(1 if low is None else max(1, low), math.inf if high is None else high)
    if (step := _number_in(row, "multipleOf")) and step > 0:
        value = math.ceil(value / step) * step
    return math.ceil(value) if is_whole else value


def _bound(row: Mapping[str, Any], name: str, exclusive: str, step: int) -> float | None:
    at, beyond = _number_in(row, name), _number_in(row, exclusive)
    if beyond is not None:
        return beyond + step
    return at + step if at is not None and row.get(exclusive) is True else at


def _number_in(row: Mapping[str, Any], key: str) -> float | None:
    value = row.get(key)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _other(number: int, value: Any) -> Any:
    """Return a value that is different for each number, where the values of a list must be unique."""
    if number and isinstance(value, str):
        return f"{value}{number}"
    return value + number if isinstance(value, int | float) and not isinstance(value, bool) else value


def text_for(pattern: Any) -> str:
    """Return a text that a pattern may accept, which the caller checks; empty if none can be generated."""
    if not isinstance(pattern, str) or len(pattern) > LONGEST:
        return ""
    try:
        return _text_of_all(parser.parse(pattern))[:LONGEST]
    except (re.error, OverflowError, RecursionError, ValueError):
        return ""


def _text_of_all(parts: Any) -> str:
    return "".join(_text_of(str(kind), value) for kind, value in parts)


def _text_of(kind: str, value: Any) -> str:
    if kind == "LITERAL":
        return chr(value)
    if kind == "ANY":
        return "a"
    if kind == "NOT_LITERAL":
        return "b" if value == ord("a") else "a"
    if kind == "IN":
        return _text_of_set(value)
    if kind in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        least, most, inner = value
        return _text_of_all(inner) * min(max(int(least), 1 if int(most) else 0), LONGEST)
    if kind == "SUBPATTERN":
        return _text_of_all(value[-1])
    return _text_of_all(value[1][0]) if kind == "BRANCH" else ""


def _text_of_set(members: Any) -> str:
    kind, value = str(members[0][0]), members[0][1]
    if kind == "NEGATE":
        taken = {chr(each) for kind, each in members[1:] if str(kind) == "LITERAL"}
        return next((each for each in _OTHERS if each not in taken), "a")
    if kind == "RANGE":
        return chr(value[0])
    return _CLASS_EXAMPLES.get(str(value), "a") if kind == "CATEGORY" else chr(value)
