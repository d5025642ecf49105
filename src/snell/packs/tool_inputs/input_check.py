"""Check whether an input has the fields that its tool needs."""

import json
import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from msgspec import Struct

from snell.engine.json_schema import schema_errors
from snell.model.events import DEEPEST, nests_deeper_than
from snell.packs.tool_inputs.examples import Example, example_of
from snell.packs.tool_inputs.tool_schemas import Entry
from snell.redact import redact

MOST_FAULTS = 8
LONGEST_EXAMPLE = 600
LONGEST_JSON = 1_000_000


class Faults(Struct, frozen=True):
    """What is wrong: `hard` faults make a call fail, `soft` ones only look incomplete."""

    hard: tuple[str, ...] = ()
    soft: tuple[str, ...] = ()


def find_faults(given: Any, entry: Entry) -> Faults:
    """Return what is wrong with an input."""
    if entry.schema is not None:
        return Faults(
            tuple(schema_errors(given, entry.schema) if entry.is_ours else schema_faults(given, entry.schema))
        )
    fields = given if isinstance(given, dict) else {}
    # An empty text with a minimum length is too short, not missing.
    missing = [name for name in entry.required if is_missing(fields, name) and not _is_short(fields, name, entry)]
    lacking = [group for group in entry.required_any if all(is_missing(fields, name) for name in group)]
    missing += [f"one of: {'|'.join(group)}" for group in lacking]
    short = {name: least for name, least in entry.min_lengths.items() if _is_short(fields, name, entry)}
    return Faults(tuple(missing), tuple(f"{name}_too_short(min:{least})" for name, least in short.items()))


def _is_short(fields: Mapping[str, Any], name: str, entry: Entry) -> bool:
    value = fields.get(name)
    return isinstance(value, str) and len(value) < entry.min_lengths.get(name, 0)


def is_missing(fields: Mapping[str, Any], name: str) -> bool:
    """Whether a field is absent, null, or an empty text or list. Zero and false are values."""
    value = fields.get(name)
    return value is None or (isinstance(value, str | list | dict) and not value)


def repair_input(given: Any, entry: Entry | None) -> dict[str, Any] | None:
    """Return the input with JSON texts parsed; None when there is nothing to repair."""
    if isinstance(given, str):
        parsed = _parse(given, dict)
        return parsed if isinstance(parsed, dict) else None
    if not isinstance(given, dict) or entry is None or given.keys().isdisjoint(wanted := entry.field_types):
        return None
    texts = {name: value for name, value in given.items() if isinstance(value, str) and name in wanted}
    found = {name: parsed for name, value in texts.items() if (parsed := _parse(value, wanted[name])) is not None}
    return {**given, **found} if found else None


def example_text(entry: Entry) -> str:
    """Return a call that would pass, as JSON; a field that cannot be generated is named instead."""
    if entry.schema is None or (entry.example and not find_faults(entry.example, entry).hard):
        return _format(entry.example)
    made = _generate(json.dumps(entry.schema, sort_keys=True), entry.is_ours)
    missing = f"what its schema requires for {', '.join(made.left_out)}" if made.left_out else ""
    return " and ".join(filter(None, (_format(made.value), missing)))


def _format(example: Mapping[str, Any]) -> str:
    text = json.dumps(example, ensure_ascii=False) if example else ""
    return text if len(text) <= LONGEST_EXAMPLE else f"{text[:LONGEST_EXAMPLE]}… [cut]"


@lru_cache(maxsize=128)
def _generate(schema: str, is_ours: bool) -> Example:
    parsed = json.loads(schema)
    made = example_of(parsed, lambda value, row: not find_faults(value, Entry(schema=row, is_ours=is_ours)).hard)
    if find_faults(made.value, Entry(schema=parsed, is_ours=is_ours)).hard and not made.left_out:
        return Example({}, ("all of it",))
    return made


def _parse(text: str, wanted: Any) -> Any:
    if len(text) > LONGEST_JSON or not text.strip():
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, bool) and bool not in (wanted if isinstance(wanted, tuple) else (wanted,)):
        return None
    if isinstance(value, float) and not math.isfinite(value):
        return None  # `NaN` is not JSON, although Python accepts it
    return value if isinstance(value, wanted) and not nests_deeper_than(DEEPEST, value) else None


def schema_faults(given: Any, schema: Mapping[str, Any]) -> list[str]:
    """Return all faults by the schema, as far as the available validator supports it."""
    if nests_deeper_than(DEEPEST, given):
        return []  # no tool needs such depth, and a validator may not survive it
    try:
        from jsonschema_rs import ValidationError
    except ImportError:
        return schema_errors(given, schema)[:MOST_FAULTS]
    try:
        validator = _validator(json.dumps(schema, sort_keys=True))
        return [_describe(error) for error, _ in zip(validator.iter_errors(given), range(MOST_FAULTS), strict=False)]
    except (ValidationError, ValueError):
        return []  # an invalid schema, or one with external references, decides nothing


def schema_problem(schema: Mapping[str, Any]) -> str:
    """Return why a schema cannot be used; empty for a good one."""
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
    """Return the validator of a schema; cached, since every call of a tool needs it."""
    from jsonschema_rs import RegexOptions, validator_for

    # Patterns run in linear time, and nothing is fetched: an external `$ref` makes the schema unusable.
    return validator_for(json.loads(schema), retriever=_refuse_fetch, pattern_options=RegexOptions())


def _refuse_fetch(uri: str) -> Any:
    raise ValueError(f"{uri} is not fetched")


def _describe(error: Any) -> str:
    at = ".".join(str(each) for each in error.instance_path)
    text = redact(str(error.message))[:300]
    return f"{at}: {text}" if at else text
