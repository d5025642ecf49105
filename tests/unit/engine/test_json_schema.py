"""Does an input fit its tool's schema?"""

from typing import Any

import pytest

from snell.engine.json_schema import TOOL_SCHEMAS, schema_errors, validator

FULL: dict[str, dict[str, Any]] = {
    "Bash": {"command": "ls"},
    "Read": {"file_path": "/a"},
    "Write": {"file_path": "/a", "content": ""},
    "Edit": {"file_path": "/a", "old_string": "x", "new_string": ""},
    "Glob": {"pattern": "*"},
    "Grep": {"pattern": "x"},
    "WebFetch": {"url": "https://example.test"},
    "WebSearch": {"query": "x"},
}


def test_every_schema_has_an_example_here() -> None:
    assert FULL.keys() == TOOL_SCHEMAS.keys()


@pytest.mark.parametrize("tool", FULL)
def test_a_whole_input_fits_and_further_keys_are_accepted(tool: str) -> None:
    assert validator()(tool, {**FULL[tool], "brand_new": [1]}) == []


@pytest.mark.parametrize(("tool", "key"), [(tool, key) for tool, full in FULL.items() for key in full])
def test_a_missing_key_and_one_of_the_wrong_type_are_both_found(tool: str, key: str) -> None:
    without = {name: value for name, value in FULL[tool].items() if name != key}
    assert validator()(tool, without) == [f"`{key}` is missing"]
    assert validator()(tool, {**FULL[tool], key: None}) == [f"`{key}` is null, not string"]


def test_a_tool_without_a_schema_takes_anything() -> None:
    assert list(validator()("mcp__lab__echo", {"anything": 1})) == []


def test_schemas_of_ones_own_are_used_instead() -> None:
    validate = validator({"Deploy": {"type": "object", "required": ["where"]}})
    assert (validate("Deploy", {}), list(validate("Bash", {}))) == (["`where` is missing"], [])


@pytest.mark.parametrize(
    ("value", "schema", "found"),
    [
        ("x", {"type": "string"}, []),
        (1, {"type": "string"}, ["the input is integer, not string"]),
        (True, {"type": "integer"}, ["the input is boolean, not integer"]),
        (True, {"type": "number"}, ["the input is boolean, not number"]),
        (True, {"type": "boolean"}, []),
        (1, {"type": "number"}, []),
        (1.5, {"type": "integer"}, ["the input is number, not integer"]),
        (1.5, {"type": "number"}, []),
        (None, {"type": ["string", "null"]}, []),
        (1, {"type": ["string", "null"]}, ["the input is integer, not string or null"]),
        ([], {"type": "object"}, ["the input is array, not object"]),
        (1, {"type": "from tomorrow"}, []),
        (1, {}, []),
        ("c", {"enum": ["a", "b"]}, ["the input is not one of a, b"]),
        ("a", {"enum": ["a", "b"]}, []),
        ("", {"minLength": 1}, ["the input is shorter than 1"]),
        ("abc", {"maxLength": 2}, ["the input is longer than 2"]),
        ([1], {"minItems": 2}, ["the input is shorter than 2"]),
        ([1, 2], {"maxItems": 1}, ["the input is longer than 1"]),
        (
            ["a", 1, True],
            {"items": {"type": "string"}},
            ["`[1]` is integer, not string", "`[2]` is boolean, not string"],
        ),
    ],
)
def test_one_value_against_one_rule(value: Any, schema: dict[str, Any], found: list[str]) -> None:
    assert schema_errors(value, schema, "") == found


def test_everything_that_is_wrong_is_told_with_its_place() -> None:
    schema = {
        "type": "object",
        "required": ["edits", "path"],
        "properties": {
            "edits": {
                "type": "array",
                "items": {"type": "object", "required": ["new"], "properties": {"new": {"type": "string"}}},
            },
            "mode": {"enum": ["fast", "slow"]},
        },
    }
    assert schema_errors({"edits": [{"new": "x"}, {}, {"new": 1}], "mode": "odd"}, schema, "") == [
        "`path` is missing",
        "`edits[1].new` is missing",
        "`edits[2].new` is integer, not string",
        "`mode` is not one of fast, slow",
    ]
