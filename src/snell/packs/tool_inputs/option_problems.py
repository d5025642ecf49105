"""Check the options of this pack: files that cannot be read, entries without effect."""

from collections.abc import Iterator, Mapping
from typing import Any

from snell.packs.tool_inputs.input_check import schema_problem
from snell.packs.tool_inputs.tool_schemas import entry_from, is_schema, schemas_in

SHORT_FORM: Mapping[str, Any] = {
    "required": lambda value: isinstance(value, str) or _are_texts(value),
    "required_any": lambda value: isinstance(value, list) and all(map(_are_texts, value)),
    "min_lengths": lambda value: isinstance(value, dict) and all(type(each) is int for each in value.values()),
    "content_min_length": lambda value: type(value) is int,
    "example": lambda value: isinstance(value, dict),
}


def option_problems(options: Mapping[str, Any]) -> list[str]:
    """Return what is wrong with the options, one sentence each."""
    found = []
    for path in options.get("files", ()):
        schemas, problem = schemas_in(str(path))
        found += [f"`files`: {path}: {problem}"] if problem else []
        found += [f"`files`: {path}: {each}" for each in _entry_problems(schemas)]
    return [*found, *(f"`tools`: {each}" for each in _entry_problems(options.get("tools", {})))]


def _entry_problems(entries: Mapping[str, Any]) -> Iterator[str]:
    for tool, written in entries.items():
        if not isinstance(written, dict):
            yield f"`{tool}` is not a table, so it is ignored"
        elif not is_schema(written):
            yield from (f"`{tool}`: {each}" for each in _short_form_problems(written))
        elif problem := schema_problem(entry_from(written).schema or {}):
            yield f"`{tool}`: its schema cannot be used, so it is ignored: {problem}"


def _short_form_problems(written: Mapping[str, Any]) -> Iterator[str]:
    for key, value in written.items():
        if key not in SHORT_FORM:
            yield f"`{key[:80]}` is an unknown key; use {', '.join(SHORT_FORM)}, or a JSON Schema"
        elif not SHORT_FORM[key](value):
            yield f"`{key}` does not have the right form, so it is ignored"


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)
