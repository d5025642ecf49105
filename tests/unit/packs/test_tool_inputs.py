"""What tools need, said before a call fails."""

import json
from pathlib import Path
from typing import Any

import pytest

from snell.engine.json_schema import TOOL_SCHEMAS
from snell.model.decision import Decision
from snell.model.effects import Verdict
from snell.packs.tool_inputs.input_check import Faults, example_text, find_faults, repair_input
from snell.packs.tool_inputs.tool_schemas import KNOWN, entry_for, entry_from
from snell.runtime.app import Runtime
from snell.settings.packs import pack_hooks

NOTHING: dict[str, Any] = {}
LONG = "long enough to be a text"


def called(
    tool: str, given: Any, event: str = "PreToolUse", options: dict[str, Any] = NOTHING, **more: Any
) -> Decision:
    with Runtime.embed(*pack_hooks("tool_inputs", options)) as runtime:
        decision = runtime.fire(event, tool_name=tool, tool_input=given, **more)
    assert decision.failures == ()
    return decision


@pytest.mark.proves("S3-01", "S3-08", "S3-09", "S3-11", "S3-13", "S3-16")
@pytest.mark.parametrize(
    ("tool", "given", "missing"),
    [
        ("Write", {"file_path": "/a", "content": LONG}, ()),
        ("Write", {"file_path": "", "content": LONG}, ("file_path",)),
        ("Write", {}, ("file_path", "content")),
        ("Write", {"file_path": None, "content": LONG}, ("file_path",)),
        ("write_local_file", "not an object", ("path", "content")),
        ("read_local_file", {"path": 0}, ()),
        ("read_local_file", {"path": False}, ()),
        ("gmail_send_email", {"subject": "s", "body": "b", "to": "x"}, ()),
        ("gmail_send_email", {"subject": "s", "body": "b"}, ("one of: recipient_email|to",)),
        ("composio_multi_execute_tool", {"tools": []}, ("tools",)),
    ],
)
def test_what_is_missing_is_named(tool: str, given: Any, missing: tuple[str, ...]):
    assert find_faults(given, KNOWN[tool.lower()]).hard == missing
    assert (called(tool, given).verdict is Verdict.DENY) is bool(missing)


@pytest.mark.proves("S3-13")
@pytest.mark.parametrize(
    ("given", "is_enough"), [({"id": "1"}, True), ({"name": "n"}, True), ({"path": "/a"}, True), ({"size": 1}, False)]
)
def test_any_field_of_a_group_of_ones_own_is_enough(given: dict[str, Any], is_enough: bool):
    options = {"tools": {"pick": {"required_any": [["id", "name", "path"]]}}}
    assert (called("pick", given, options=options).verdict is Verdict.NO_OPINION) is is_enough


DEFINED = {"name": {"type": "object", "required": ["n"], "properties": {"n": {"type": "string", "minLength": 6}}}}


@pytest.mark.parametrize(
    "row",
    [
        {"type": "string", "minLength": 50},
        {"type": "string", "pattern": "^[A-Z]{3}-[0-9]+$"},
        {"type": "string", "pattern": "^projects/[^/]+/(locations|regions)/\\w{2,}$"},
        {"type": "string", "format": "email"},
        {"type": "integer", "exclusiveMinimum": 10, "multipleOf": 7},
        {"type": "number", "maximum": -3},
        {"type": ["string", "null"], "minLength": 4},
        {"type": ["integer", "null"]},
        {"type": "array", "minItems": 3, "uniqueItems": True, "items": {"type": "string"}},
        {"type": "object", "required": ["x"], "properties": {"x": {"type": "integer", "minimum": 5}}},
        {"oneOf": [{"type": "string", "minLength": 4}, {"type": "integer"}]},
        {"allOf": [{"type": "object", "required": ["p"]}, {"required": ["q"], "properties": {"q": {"const": 3}}}]},
        {"$ref": "#/$defs/name"},
        {"const": "only"},
        {"enum": [None]},
        {"type": "integer", "default": "wrong", "minimum": 4},
    ],
)
def test_an_example_passes_the_schema_that_it_is_made_from(row: dict[str, Any]):
    entry = entry_from({"type": "object", "required": ["a"], "properties": {"a": row}, "$defs": DEFINED})
    example = json.loads(example_text(entry))
    assert (set(example), find_faults(example, entry)) == ({"a"}, Faults())
    assert find_faults({}, entry).hard


def test_what_no_example_can_be_made_of_is_named_and_an_example_that_would_fail_is_not_shown():
    impossible = {"type": "string", "enum": []}
    schema = {"type": "object", "required": ["a", "b"], "properties": {"a": impossible, "b": {"type": "integer"}}}
    assert example_text(entry_from(schema)) == '{"b": 1} and what its schema requires for a'
    wrong = {"type": "object", "required": ["b"], "properties": {"b": {"type": "integer"}}, "examples": [{"b": "x"}]}
    assert example_text(entry_from(wrong)) == '{"b": 1}'


@pytest.mark.parametrize("required", [None, True, "a", 3, {}])
def test_a_schema_with_nonsense_in_it_crashes_nothing(required: Any):
    entry = entry_from({"type": "object", "required": required, "properties": {"a": {"type": ["integer", "null"]}}})
    assert isinstance(example_text(entry), str)
    assert repair_input({"a": "1"}, entry) == {"a": 1}
    assert [repair_input({"a": text}, entry) for text in ("NaN", "1e999", "true", "x")] == [None] * 4
    either = entry_from({"type": "object", "properties": {"a": {"type": ["string", "null"]}}})
    assert repair_input({"a": "1"}, either) is None


@pytest.mark.proves("S3-10", "S3-22")
@pytest.mark.parametrize(
    ("mode", "verdict"), [("guide", Verdict.NO_OPINION), ("strict", Verdict.DENY), ("off", Verdict.NO_OPINION)]
)
def test_what_only_looks_poor_is_a_note_or_a_refusal_as_you_like(mode: str, verdict: Verdict):
    poor = called("Write", {"file_path": "/a", "content": ""}, options={"mode": mode})
    assert poor.verdict is verdict
    assert [each.text for each in poor.notes] == (
        ["The call of Write looks incomplete: content is empty."] if mode == "guide" else []
    )
    lacking = called("Write", {"file_path": "/a"}, options={"mode": mode})
    assert (lacking.verdict is Verdict.DENY) is (mode != "off")


@pytest.mark.proves("S3-12", "S3-23")
def test_a_refusal_shows_a_call_that_would_pass():
    refused = called("write_local_file", {"path": "x"})
    assert refused.reasons[0].text == "Invalid write_local_file call. Missing required fields: content"
    example = refused.reasons[0].instead.partition("Example: ")[2]
    assert called("write_local_file", json.loads(example)).verdict is Verdict.NO_OPINION


@pytest.mark.parametrize("tool", sorted(KNOWN))
def test_every_example_passes_its_own_entry(tool: str):
    entry = KNOWN[tool]
    assert find_faults(json.loads(example_text(entry)), entry) == find_faults(entry.example, entry)
    assert (find_faults(entry.example, entry).hard, find_faults(entry.example, entry).soft) == ((), ())


@pytest.mark.proves("S3-14", "S3-15")
@pytest.mark.parametrize(
    ("tool", "found"),
    [
        ("Write", "write"), ("WRITE", "write"), ("mcp__fs__write", "write"), ("fs.write", "write"),
        ("overwrite", ""), ("mcp__a__b__read_local_file", "read_local_file"), ("unheard_of", ""),
        ("", ""), ("__", ""),
    ],
)  # fmt: skip
def test_tools_are_known_by_their_whole_name_or_the_part_after_a_separator(tool: str, found: str):
    assert entry_for(tool, {}) is KNOWN.get(found)
    assert find_faults({}, entry_for("TodoWrite", {}) or KNOWN["write"]) == Faults()


@pytest.mark.proves("S3-18")
def test_entries_come_from_settings_and_files_in_both_forms(tmp_path: Path):
    schema = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer", "minimum": 3}}}
    (tmp_path / "mcp.json").write_text(json.dumps({"mcp__a__count": schema}), encoding="utf-8")
    tools = {
        "invoice": {"required": ["customer"], "min_lengths": {"customer": 3}, "example": {"customer": "ACME"}},
        "write": {"required": ["target"]},
        "broken": 3,
    }
    options = {"tools": tools, "files": [str(tmp_path / "mcp.json"), str(tmp_path / "absent.json")], "mode": "strict"}
    assert len(KNOWN) == 9
    assert called("invoice", {}, options=options).verdict is Verdict.DENY
    assert called("invoice", {"customer": "AB"}, options=options).verdict is Verdict.DENY
    assert called("Write", {"target": "x"}, options=options).verdict is Verdict.NO_OPINION
    assert called("mcp__a__count", {"n": 4}, options=options).verdict is Verdict.NO_OPINION
    low = called("mcp__a__count", {"n": 1}, options=options)
    assert (low.verdict, "less than the minimum" in low.reason) == (Verdict.DENY, True)
    assert 'Example: {"n": 3}' in called("mcp__a__count", {}, options=options).reasons[0].instead


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:9/schema.json"}}},
        {"type": "object", "properties": {"a": {"pattern": "^(x+x+)+y$"}}},
        {"type": 7},
        {"type": "object", "properties": []},
    ],
)
def test_a_schema_that_wants_more_than_checking_neither_fetches_nor_hangs(schema: Any):
    decision = called("t", {"a": "x" * 5000}, options={"tools": {"t": schema}})
    assert decision.failures == ()


def test_an_input_of_five_thousand_levels_is_fine():
    deep: dict[str, Any] = {}
    for _ in range(5000):
        deep = {"a": deep}
    schema = {"type": "object", "required": ["n"]}
    assert find_faults(deep, entry_for("t", {"tools": {"t": schema}}) or KNOWN["write"]).hard == ()


@pytest.mark.proves("S3-19")
@pytest.mark.parametrize(
    ("name", "bare"),
    [("Bash<parameter name=x>", "Bash"), ('read["a"]', "read"), ("{Write}", "Write"), ("two words", "two")],
)
def test_a_name_that_is_no_name_is_refused_with_the_one_that_was_meant(name: str, bare: str):
    refused = called(name, {"command": "ls"})
    assert (refused.verdict, refused.reasons[0].instead.split("`")[1]) == (Verdict.DENY, bare)


@pytest.mark.proves("S3-20")
@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ('{"tools": [{"tool_slug": "X"}]}', {"tools": [{"tool_slug": "X"}]}),
        ({"tools": '[{"tool_slug": "X"}]'}, {"tools": [{"tool_slug": "X"}]}),
        ({"tools": "[not json"}, {"tools": "[not json"}),
        ({"tools": '{"an": "object"}'}, {"tools": '{"an": "object"}'}),
    ],
)
def test_json_that_came_as_text_is_made_into_what_it_says(given: Any, expected: Any):
    assert called("composio_multi_execute_tool", given).event.payload["tool_input"] == expected


@pytest.mark.proves("S3-21")
def test_the_calls_inside_a_batch_are_checked_one_by_one():
    inner = [{"tool_slug": "GMAIL_SEND_EMAIL", "arguments": {"subject": "s", "to": "x"}}, {"arguments": {}}, 3]
    refused = called("composio_multi_execute_tool", {"tools": inner})
    assert refused.reasons[0].text == (
        "Invalid composio_multi_execute_tool call. Missing required fields: "
        "tools[0] GMAIL_SEND_EMAIL: body, tools[1].tool_slug, tools[2].tool_slug"
    )


@pytest.mark.proves("S3-02", "S3-24", "S3-25", "S3-26", "S3-27", "S3-28", "S3-29")
@pytest.mark.parametrize(
    ("event", "fields", "expected"),
    [
        ("PostToolUseFailure", {"error": "1 validation error for Write"}, "A call that would pass"),
        ("PostToolUseFailure", {"error": "InputValidationError: x"}, "A call that would pass"),
        ("PostToolUseFailure", {"error": "Missing required argument"}, "A call that would pass"),
        ("PostToolUseFailure", {"error": "No such tool available: Wrte"}, "There is no tool"),
        ("PostToolUseFailure", {"error": "disk full"}, "The disk is full."),
        ("PostToolUseFailure", {"error": "ENOENT: no such file or directory"}, "Check the path"),
        ("PostToolUseFailure", {"error": "something odd"}, "Read the error and change what caused it"),
        ("PostToolUseFailure", {"error": "something odd", "is_interrupt": True}, ""),
        ("PostToolUseFailure", {"error": None}, ""),
        ("PostToolUse", {"tool_response": {"is_error": True, "content": "field required"}}, "A call that would pass"),
        ("PostToolUse", {"tool_response": {"content": "docs on validation error, field required"}}, ""),
        ("PostToolUse", {"tool_response": "field required"}, ""),
        ("PostToolUse", {"tool_response": {"isError": False, "error": None, "content": "field required"}}, ""),
    ],
)
def test_after_a_failure_the_right_shape_is_shown(event: str, fields: dict[str, Any], expected: str):
    told = [each.text for each in called("Write", {"file_path": "/a"}, event, **fields).notes]
    assert (bool(told), expected in "".join(told)) == (bool(expected), True)


@pytest.mark.parametrize("mode", ["guide", "strict"])
@pytest.mark.parametrize("tool", [*KNOWN, *TOOL_SCHEMAS, "mcp__composio__GMAIL_SEND_EMAIL"])
def test_the_example_of_a_refusal_passes_when_it_is_sent_back(tool: str, mode: str):
    refused = called(tool, {}, options={"mode": mode})
    assert refused.verdict is Verdict.DENY
    example = json.loads(refused.reason.partition("Example: ")[2])
    assert called(tool, example, options={"mode": mode}).verdict is Verdict.NO_OPINION


@pytest.mark.parametrize(
    ("tool", "given", "expected"),
    [
        ("TodoWrite", {"todos": '[{"content": "a"}]'}, {"todos": [{"content": "a"}]}),
        ("Bash", {"command": "5000", "timeout": "5000"}, {"command": "5000", "timeout": 5000}),
        ("Bash", {"command": "ls", "run_in_background": "true"}, {"command": "ls", "run_in_background": True}),
        ("Read", {"file_path": "1", "limit": "10"}, {"file_path": "1", "limit": 10}),
        ("Grep", {"pattern": "true", "-i": "true", "-A": "3"}, {"pattern": "true", "-i": True, "-A": 3}),
        ("Edit", {"file_path": "/a", "old_string": "1", "new_string": "2", "replace_all": "false"},
         {"file_path": "/a", "old_string": "1", "new_string": "2", "replace_all": False}),
        ("MultiEdit", {"file_path": "/a", "edits": "[]"}, {"file_path": "/a", "edits": []}),
        ("Read", {"file_path": "/a", "limit": "true"}, None),
        ("TodoWrite", {"todos": "1. [pending] write it"}, None),
        ("Bash", {"command": "ls", "brand_new": "5"}, None),
    ],
)  # fmt: skip
def test_fields_of_the_clients_own_tools_are_made_into_what_they_say(tool: str, given: Any, expected: Any):
    decision = called(tool, given)
    assert decision.verdict in (Verdict.NO_OPINION, Verdict.ALLOW)
    assert decision.event.tool_input == (expected or given)


INNER = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#/$defs/a", "$defs": {"a": INNER}},
        {"$ref": "#/definitions/a", "definitions": {"a": INNER}},
        {"oneOf": [INNER, {"type": "object", "required": ["never", "this"]}]},
        {"anyOf": [INNER]},
        {"allOf": [INNER, {"required": ["n"]}]},
        {"enum": [{"n": 1}]},
        {"const": {"n": 1}},
    ],
)
def test_a_schema_is_known_by_any_of_its_words(schema: dict[str, Any]):
    options = {"tools": {"count": schema}}
    refused = called("count", {"wrong": 1}, options=options)
    assert refused.verdict is Verdict.DENY
    assert called("count", json.loads(refused.reason.partition("Example: ")[2]), options=options).verdict is (
        Verdict.NO_OPINION
    )
    if "enum" not in schema and "const" not in schema:
        assert called("count", {"n": "7"}, options=options).event.tool_input == {"n": 7}


def test_a_field_that_may_be_left_empty_is_repaired_too():
    row = {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]}
    entry = entry_from({"type": "object", "properties": {"tags": row, "name": {"anyOf": [row, {"type": "string"}]}}})
    assert repair_input({"tags": '["a"]', "name": '["a"]'}, entry) == {"tags": ["a"], "name": '["a"]'}


@pytest.mark.parametrize(
    ("content", "said"), [("abc", "content has 3 characters"), ("a", "1 character,"), ("", "empty")]
)
def test_a_text_that_is_shorter_than_usual_is_mentioned(content: str, said: str):
    decision = called("Write", {"file_path": "/a", "content": content})
    assert decision.verdict is not Verdict.DENY
    assert said in decision.notes[0].text
