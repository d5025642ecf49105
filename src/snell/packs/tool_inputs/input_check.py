"""Does an input have the shape that its tool needs?"""

import json
import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from msgspec import Struct

from snell.engine.json_schema import schema_errors
from snell.model.events import DEEPEST, nests_deeper_than
from snell.packs.tool_inputs.examples import Made, example_of
from snell.packs.tool_inputs.tool_schemas import Entry

MOST_WRONGS = 8
LONGEST_EXAMPLE = 600
LONGEST_JSON = 1_000_000


class Faults(Struct, frozen=True):
    """What is wrong: what keeps a call from working, and what only looks poor."""

    hard: tuple[str, ...] = ()
    soft: tuple[str, ...] = ()


def find_faults(given: Any, entry: Entry) -> Faults:
    """What is wrong with an input."""
    if entry.schema is not None and entry.is_ours:
        return Faults(tuple(schema_errors(given, entry.schema, "")))
    if entry.schema is not None:
        return Faults(tuple(schema_faults(given, entry.schema)))
    fields = given if isinstance(given, dict) else {}
    # An empty text where a length is asked for is too short; it is there.
    missing = [name for name in entry.required if is_missing(fields, name) and not _is_short(fields, name, entry)]
    lacking = [group for group in entry.required_any if all(is_missing(fields, name) for name in group)]
    missing += [f"one of: {'|'.join(group)}" for group in lacking]
    short = [
        f"{name}_too_short(min:{least})" for name, least in entry.min_lengths.items() if _is_short(fields, name, entry)
    ]
    return Faults(tuple(missing), tuple(short))


def _is_short(fields: Mapping[str, Any], name: str, entry: Entry) -> bool:
    value = fields.get(name)
    return isinstance(value, str) and len(value) < entry.min_lengths.get(name, 0)


def is_missing(fields: Mapping[str, Any], name: str) -> bool:
    """Absent, null, or an empty text or list. Zero and false are values."""
    value = fields.get(name)
    return value is None or (isinstance(value, str | list | dict) and not value)


def repair_input(given: Any, entry: Entry | None) -> dict[str, Any] | None:
    """The input with JSON that came as text made into what it says; None when there is nothing to repair."""
    if isinstance(given, str):
        whole = _parsed(given, dict)
        return whole if isinstance(whole, dict) else None
    if not isinstance(given, dict) or entry is None:
        return None
    wanted = entry.no_texts
    better = {
        name: _parsed(value, wanted[name]) for name, value in given.items() if isinstance(value, str) and name in wanted
    }
    found = {name: value for name, value in better.items() if value is not None}
    return {**given, **found} if found else None


def example_text(entry: Entry) -> str:
    """A call that would pass, as JSON; where a field of it cannot be made up, it is named instead."""
    if entry.schema is None:
        return _shown(entry.example)
    if entry.example and not find_faults(entry.example, entry).hard:
        return _shown(entry.example)
    made = _made_up(json.dumps(entry.schema, sort_keys=True), entry.is_ours)
    missing = f"what its schema asks for in {', '.join(made.left_out)}" if made.left_out else ""
    return " and ".join(filter(None, (_shown(made.value), missing)))


def _shown(example: Mapping[str, Any]) -> str:
    text = json.dumps(example, ensure_ascii=False) if example else ""
    return text if len(text) <= LONGEST_EXAMPLE else f"{text[:LONGEST_EXAMPLE]}… [cut]"


@lru_cache(maxsize=128)
def _made_up(schema: str, is_ours: bool) -> Made:
    whole = json.loads(schema)
    made = example_of(whole, lambda value, row: not find_faults(value, Entry(schema=row, is_ours=is_ours)).hard)
    if find_faults(made.value, Entry(schema=whole, is_ours=is_ours)).hard and not made.left_out:
        return Made({}, ("all of it",))
    return made


def _parsed(text: str, wanted: Any) -> Any:
    if len(text) > LONGEST_JSON or not text.strip():
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, bool) and bool not in (wanted if isinstance(wanted, tuple) else (wanted,)):
        return None
    if isinstance(value, float) and not math.isfinite(value):
        return None  # `NaN` is no JSON, whatever Python reads
    return value if isinstance(value, wanted) and not nests_deeper_than(DEEPEST, value) else None


def schema_faults(given: Any, schema: Mapping[str, Any]) -> list[str]:
    """Everything that the schema says is wrong, as far as there is a validator for all of it."""
    if nests_deeper_than(DEEPEST, given):
        return []  # nobody's tool is that deep, and nobody's validator should find out
    try:
        from jsonschema_rs import ValidationError
    except ImportError:
        return schema_errors(given, schema, "")[:MOST_WRONGS]
    try:
        validator = _validator(json.dumps(schema, sort_keys=True))
        return [_in_words(error) for error, _ in zip(validator.iter_errors(given), range(MOST_WRONGS), strict=False)]
    except (ValidationError, ValueError):
        return []  # a schema that is none, or that points elsewhere, says nothing about the call


def unusable(schema: Mapping[str, Any]) -> str:
    """Why a schema says nothing about any call; empty for a good one."""
    try:
        from jsonschema_rs import ValidationError
    except ImportError:
        return ""
    try:
        _validator(json.dumps(schema, sort_keys=True))
    except (ValidationError, ValueError, TypeError, RecursionError) as error:
        return str(error).split("\n", maxsplit=1)[0][:300]
    return ""


@lru_cache(maxsize=128)
def _validator(schema: str) -> Any:
    """Made once for a schema, since every call of a tool asks for it."""
    from jsonschema_rs import RegexOptions, validator_for

    # Patterns in linear time, and nothing is fetched: a `$ref` elsewhere makes the schema unusable.
    return validator_for(json.loads(schema), retriever=_not_fetched, pattern_options=RegexOptions())


def _not_fetched(uri: str) -> Any:
    raise ValueError(f"{uri} is not fetched")


def _in_words(error: Any) -> str:
    at = ".".join(str(each) for each in error.instance_path)
    text = str(error.message)[:300]
    return f"{at}: {text}" if at else text
