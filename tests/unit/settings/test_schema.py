"""One schema for the parser, the JSON Schema and the reference page."""

import pytest

from snell.settings.handler_types import handler_types
from snell.settings.json_schema import json_schema, spellings
from snell.settings.schema import ENTRY, HOOK_KEYS, TABLES, TOP, TOP_KEYS
from snell.settings.value_check import READERS

HANDLERS = handler_types().all
ALL_KEYS = [
    *TOP_KEYS,
    *(inner for key in TOP_KEYS for inner in key.inner),
    *HOOK_KEYS,
    *(key for row in HANDLERS for key in row.keys),
]


def test_every_key_has_a_reader_and_a_line_about_it():
    assert READERS.keys() == TABLES.shapes.keys()
    assert [key.name for key in ALL_KEYS if key.type not in READERS] == []
    assert [key.name for key in ALL_KEYS if not key.help and not key.ignored] == []


@pytest.mark.parametrize("key", HOOK_KEYS, ids=lambda key: key.name)
def test_a_key_is_found_under_all_its_spellings(key):
    assert [spelled for spelled in spellings(key) if ENTRY.find(spelled) != key] == []


def test_no_two_keys_of_one_place_share_a_spelling():
    places = {"top": TOP_KEYS, **{row.name: HOOK_KEYS + row.keys for row in HANDLERS}}
    for name, keys in places.items():
        known = TOP if name == "top" else handler_types().keys_in_entry[name]
        assert [key.name for key in keys for spelled in spellings(key) if known.find(spelled) != key] == []


def test_the_json_schema_names_every_spelling_of_every_key():
    schema = json_schema()
    entry, top = schema["$defs"]["entry"]["properties"], schema["properties"]
    assert [name for key in TOP_KEYS for name in spellings(key) if name not in top] == []
    flat = [*HOOK_KEYS, *(key for row in HANDLERS for key in row.keys)]
    assert [name for key in flat for name in spellings(key) if name not in entry] == []
    for row in HANDLERS:
        properties = schema["$defs"][row.name]["properties"]
        own = [*row.keys, *(key for key in HOOK_KEYS if key.in_handler)]
        assert [name for key in own for name in spellings(key) if name not in properties] == []
        assert all(handler_types().keys_in_table[row.name].find(name) for name in properties)


def test_the_json_schema_takes_each_handler_as_a_table_and_refuses_unknown_keys():
    schema = json_schema()
    entry = schema["$defs"]["entry"]
    tables = {name for row in HANDLERS for name in (row.name, *row.aliases)}
    refs = {
        name
        for name in tables
        if {"$ref"} & entry["properties"][name].keys() or "$ref" in entry["properties"][name]["anyOf"][0]
    }
    assert refs == tables
    assert (schema["additionalProperties"], entry["additionalProperties"]) == (False, False)
