"""What is wrong with what a user tells this pack: files that cannot be read, entries that say nothing."""

from collections.abc import Iterator, Mapping
from typing import Any

from snell.packs.tool_inputs.input_check import unusable
from snell.packs.tool_inputs.tool_schemas import entry_from, is_schema, schemas_in

SHORT_FORM: Mapping[str, Any] = {
    "required": lambda value: isinstance(value, str) or _are_texts(value),
    "required_any": lambda value: isinstance(value, list) and all(map(_are_texts, value)),
    "min_lengths": lambda value: isinstance(value, dict) and all(type(each) is int for each in value.values()),
    "content_min_length": lambda value: type(value) is int,
    "example": lambda value: isinstance(value, dict),
}


def option_problems(options: Mapping[str, Any]) -> list[str]:
    found = []
    for path in options.get("files", ()):
        schemas, problem = schemas_in(str(path))
        found += [f"`files`: {path}: {problem}"] if problem else []
        found += [f"`files`: {path}: {each}" for each in _of_entries(schemas)]
    return [*found, *(f"`tools`: {each}" for each in _of_entries(options.get("tools", {})))]


def _of_entries(entries: Mapping[str, Any]) -> Iterator[str]:
    for tool, written in entries.items():
        if not isinstance(written, dict):
            yield f"`{tool}` is no table, so nothing is asked of it"
        elif not is_schema(written):
            yield from (f"`{tool}`: {each}" for each in _of_short_form(written))
        elif problem := unusable(entry_from(written).schema or {}):
            yield f"`{tool}`: its schema cannot be used, so nothing is asked of it: {problem}"


def _of_short_form(written: Mapping[str, Any]) -> Iterator[str]:
    for key, value in written.items():
        if key not in SHORT_FORM:
            yield f"`{key[:80]}` is not understood; there are {', '.join(SHORT_FORM)}, or a JSON Schema"
        elif not SHORT_FORM[key](value):
            yield f"`{key}` does not have the right form, so it says nothing"


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)
