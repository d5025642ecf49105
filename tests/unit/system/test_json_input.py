"""Payloads as clients really send them, and as they should not. Nothing here may raise anything but PayloadError."""

import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from snell.model.errors import PayloadError, UnjudgedPayloadError
from snell.model.events import TOO_DEEP
from snell.system.json_input import (
    DEEPEST,
    LARGEST,
    MOST_CONTAINERS,
    MOST_KEYS,
    odd_fields,
    read_object,
    read_payload,
)
from tests.case_counts import cases

HANG = 20.0  # seconds; a bound against hanging, not a measure of speed


def refusal(raw: bytes) -> str:
    with pytest.raises(PayloadError) as caught:
        read_payload(raw)
    return str(caught.value)


def test_an_ordinary_payload_is_read_as_it_is() -> None:
    payload = {"a": [1, -2.5, "x: {[", None, True], "b": {"c": {"d": []}}, "ü\n": "\U0001f600"}
    for raw in (json.dumps(payload), json.dumps(payload, ensure_ascii=False, indent=2), f"\n{json.dumps(payload)}\n"):
        assert read_payload(raw.encode()) == (payload, ())


@pytest.mark.parametrize("raw", [b"", b" ", b"\n\t \r\n", b"\xef\xbb\xbf", b"\xef\xbb\xbf \n"])
def test_an_empty_payload_is_refused(raw: bytes) -> None:
    assert refusal(raw) == "the payload is empty; send one JSON object on standard input"


@pytest.mark.parametrize(
    ("raw", "word"),
    [
        (b"null", "null"),
        (b"[]", "a list"),
        (b'[{"a": 1}]', "a list"),
        (b'"{}"', "a string"),
        (b"12", "a number"),
        (b"1.5", "a number"),
        (b"true", "a boolean"),
    ],
)
def test_anything_but_an_object_is_refused_by_name(raw: bytes, word: str) -> None:
    assert refusal(raw) == f"the payload is {word}; send one JSON object"


@pytest.mark.parametrize(
    "raw",
    [b"{", b'{"a"}', b'{"a": 1,}', b"{'a': 1}", b'{"a": 01}', b'{"a": "\n', b"hello", b"\x01{}", b"{\x01}"],
)
def test_what_is_not_json_is_refused_with_its_place(raw: bytes) -> None:
    message = refusal(raw)
    assert message.startswith("the payload is not JSON: ")
    assert "(line " in message


def test_utf_16_is_read_and_flagged() -> None:
    for encoding in ("utf-16", "utf-16-le", "utf-16-be", "utf-32"):
        assert read_payload('{"a": "ü"}'.encode(encoding)) == ({"a": "ü"}, ("not-utf8",))


@pytest.mark.parametrize(("rest"), [b"x", b"\x00", b", 1", b"]", b"null"])
def test_text_after_the_object_is_flagged_and_a_second_object_is_not_judged(rest: bytes) -> None:
    assert read_payload(b'{"a": 1} ' + rest) == ({"a": 1}, ("text-after-json",))
    with pytest.raises(UnjudgedPayloadError, match="more than one object"):
        read_payload(b'{"a": 1} ' + rest + b'{"a": 2}')


def test_control_characters_in_a_text_are_kept_and_flagged() -> None:
    assert read_payload(b'{"a": "x\n\ty\x00"}') == ({"a": "x\n\ty\x00"}, ("control-characters",))


@pytest.mark.parametrize("raw", [b'{"a": 1} x', b'{"a": NaN}', b'{"a": "\n"}', b'{"a": 1} {}', b"{"])
def test_what_a_program_or_user_wrote_has_no_such_mistakes(raw: bytes) -> None:
    with pytest.raises(PayloadError):
        read_object(raw)
    assert read_object(b'{"a": {"b": 1}, "a": "\\ud800"}') == {"a": "\ufffd"}


def test_a_byte_order_mark_is_accepted_and_flagged() -> None:
    assert read_payload(b'\xef\xbb\xbf{"a": 1}') == ({"a": 1}, ("bom",))


@pytest.mark.parametrize("broken", [b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xf0\x9f\x98"])
def test_invalid_utf_8_is_replaced_and_flagged(broken: bytes) -> None:
    text = broken.decode("utf-8", "replace")
    assert read_payload(b'{"a": "x' + broken + b'y"}') == ({"a": f"x{text}y"}, ("invalid-utf8",))
    assert read_payload(b'{"x' + broken + b'": 1}') == ({f"x{text}": 1}, ("invalid-utf8",))


@pytest.mark.parametrize(
    ("escaped", "mended"),
    [
        (rb"\ud800", "\ufffd"),
        (rb"x\udc00y", "x\ufffdy"),
        (rb"\udc00\ud800", "\ufffd\ufffd"),
        (rb"\ud83d\ude00\ud83d", "\U0001f600\ufffd"),
        (rb"\\ud800\ud800", "\\ud800\ufffd"),
    ],
)
def test_half_a_surrogate_pair_is_replaced_and_flagged(escaped: bytes, mended: str) -> None:
    raw = b'{"a": ["%s", {"%s": 1}], "b": "ok"}' % (escaped, escaped)
    assert read_payload(raw) == ({"a": [mended, {mended: 1}], "b": "ok"}, ("lone-surrogates",))


def test_all_kinds_of_damage_are_flagged_together() -> None:
    assert read_payload(b'\xef\xbb\xbf{"a": "\\ud800", "b": "\xff"}') == (
        {"a": "\ufffd", "b": "\ufffd"},
        ("bom", "invalid-utf8", "lone-surrogates"),
    )


@pytest.mark.parametrize(
    ("raw", "read"),
    [
        (b'{"a": 1, "a": 2}', {"a": 2}),
        (b'{"a": 1, "b": {"c": [{"d": 1, "e": 2, "d": 3}]}}', {"a": 1, "b": {"c": [{"d": 3, "e": 2}]}}),
        (rb'{"tool_input": 1, "\u0074ool_input": 2}', {"tool_input": 2}),
        (rb'{"\ud800": 1, "\ud801": 2}', {"\ufffd": 2}),
        (b'{"\xff": 1, "\xfe": 2}', {"\ufffd": 2}),
        (b'{"": 1, "": 2}', {"": 2}),
    ],
)
def test_of_a_key_given_twice_the_last_value_counts(raw: bytes, read: Any) -> None:
    assert read_payload(raw)[0] == read


def test_the_same_key_in_different_objects_is_fine() -> None:
    raw = rb'{"a": {"a": [{"a": "\u003a:\u003A"}, {"a": 1}]}}'
    assert read_payload(raw) == ({"a": {"a": [{"a": ":::"}, {"a": 1}]}}, ())


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=8,
)


@settings(max_examples=cases(30, 150), deadline=None)
@given(st.dictionaries(st.text(max_size=4), JSON, max_size=5), st.booleans())
def test_what_was_written_is_read_back(payload: dict[str, Any], ascii_only: bool) -> None:
    assert read_payload(json.dumps(payload, ensure_ascii=ascii_only).encode()) == (payload, ())


@settings(max_examples=cases(30, 150), deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["a", "b", ":", "", "é"]), JSON), max_size=4), st.booleans())
def test_of_repeated_keys_the_last_value_counts_everywhere(pairs: list[tuple[str, Any]], ascii_only: bool) -> None:
    written = ",".join(f"{dumped(key, ascii_only)}:{dumped(value, ascii_only)}" for key, value in pairs)
    raw = b'{"outer":[{%s}]}' % written.encode()
    assert read_payload(raw) == ({"outer": [dict(pairs)]}, ())


@pytest.mark.parametrize("number", [b"NaN", b"Infinity", b"-Infinity", b"1e999", b"-1e999", b"9" * 5000])
def test_a_number_that_json_does_not_have_is_null_and_flagged(number: bytes) -> None:
    assert read_payload(b'{"a": [%s, 1.5, 2]}' % number) == ({"a": [None, 1.5, 2]}, ("not-finite",))


@pytest.mark.parametrize("number", [2**63, 2**64 - 1, 2**64, -(2**63) - 1, 10**40, -(10**400)])
def test_integers_of_any_size_stay_exact(number: int) -> None:
    for raw in (b'{"a": %d}' % number, b'{"a": %d, "b": "\\ud800"}' % number):
        value = read_payload(raw)[0]["a"]
        assert type(value) is int
        assert value == number


def test_what_is_nested_beyond_the_limit_becomes_text_there() -> None:
    fits = b'{"a": ' + b"[" * (DEEPEST - 1) + b"]" * (DEEPEST - 1) + b"}"
    assert read_payload(fits)[1] == ()
    for levels in (DEEPEST, 500, 900, 990, 1000, 5000):
        for damage in (b"", b"\\ud800"):
            raw = b'{"b": "}%s", "a": ' % damage + b"[" * levels + b'"rm"' + b"]" * levels + b', "c": "after"}'
            value, flags = read_payload(raw)
            assert (flags[0], value["c"], value["b"][0]) == (TOO_DEEP, "after", "}")
            deep = value["a"]
            for _ in range(DEEPEST - 2):
                (deep,) = deep
            over = levels - DEEPEST + 1
            assert deep == ["[" * over + '"rm"' + "]" * over]


def test_a_deep_payload_that_never_ends_is_refused() -> None:
    for raw in (b'{"a": ' + b"[" * 5000, b'{"a":' * 5000, b'{"a": ' + b"[" * 5000 + b"]" * 10 + b"}"):
        assert refusal(raw).startswith("the payload is not JSON")


def test_brackets_and_colons_inside_strings_do_not_count() -> None:
    text = '[{":' * 300_000
    assert read_payload(json.dumps({"a": text}).encode()) == ({"a": text}, ())


@pytest.mark.parametrize(
    "raw",
    [
        b'{"a": ' + b"[" * 1_000_000 + b"]" * 1_000_000 + b"}",
        b"[" * 1_000_000,
        b'{"a":' * 1_000_000,
        b'{"a":' * 300_000 + b"1" + b"}" * 299_999,
        b'{"a": "\\ud800", "b": ' + b"[" * 400_000,
    ],
    ids=["balanced", "open lists", "open objects", "objects", "after damage"],
)
def test_a_million_levels_are_refused_without_hanging(raw: bytes) -> None:
    started = time.monotonic()
    message = refusal(raw)
    assert "too many lists and objects" in message or "is not JSON" in message
    assert time.monotonic() - started < HANG


def test_a_hundred_thousand_keys_are_flagged_and_more_than_the_limit_refused() -> None:
    def keys(count: int) -> dict[str, int]:
        return {f"k{i}": i for i in range(count)}

    assert read_payload(json.dumps(keys(1000)).encode())[1] == ()
    assert read_payload(json.dumps(keys(100_000)).encode()) == (keys(100_000), ("many-keys",))
    nested = {"a": [{"x": 1, "y": 2} for _ in range(40_000)]}
    assert read_payload(json.dumps(nested).encode()) == (nested, ("many-keys",))
    count = MOST_KEYS + 1
    assert refusal(json.dumps(keys(count)).encode()) == f"the payload has {count} keys; send at most {MOST_KEYS}"


def test_too_many_lists_are_refused_before_they_are_built() -> None:
    raw = b'{"a": [' + b"[]," * (MOST_CONTAINERS + 1) + b"1]}"
    assert refusal(raw) == f"the payload has too many lists and objects; send at most {MOST_CONTAINERS}"


def test_ten_megabytes_are_read_without_hanging() -> None:
    started = time.monotonic()
    text = 'line: {"x"}\n\\ ' * 700_000
    assert read_payload(json.dumps({"a": text}).encode()) == ({"a": text}, ())
    numbers = list(range(1_200_000))
    assert read_payload(json.dumps({"a": numbers}).encode()) == ({"a": numbers}, ())
    assert read_payload(b'{"a": "' + b"\\ud800" * 1_500_000 + b'"}')[1] == ("lone-surrogates",)
    assert read_payload(b'{"a": "' + b"\xff" * 10_000_000 + b'"}')[1] == ("invalid-utf8",)
    assert time.monotonic() - started < HANG


def test_a_payload_over_sixteen_megabytes_is_refused_by_its_size() -> None:
    size = LARGEST + 1
    assert refusal(b"x" * size) == f"the payload has {size} bytes; send at most {LARGEST}"


@settings(max_examples=cases(60, 300), deadline=None)
@given(st.binary(max_size=40) | st.text(alphabet='{}[]",:\\u0d8ea1 \n', max_size=40).map(str.encode))
def test_no_bytes_raise_anything_but_a_payload_error(raw: bytes) -> None:
    try:
        payload, flags = read_payload(raw)
    except PayloadError:
        return
    assert isinstance(payload, dict)
    repaired = {"bom", "not-utf8", "invalid-utf8", "lone-surrogates", "not-finite"}
    assert set(flags) <= {*repaired, "control-characters", "text-after-json", "many-keys"}


def test_fields_of_another_type_are_named() -> None:
    odd: dict[str, Any] = {
        "tool_input": None,
        "cwd": 3,
        "prompt": ["a"],
        "session_id": True,
        "tool_name": {},
        "home": None,
    }
    assert odd_fields(odd) == (
        "session_id is a boolean",
        "cwd is a number",
        "tool_name is an object",
        "tool_input is null",
        "prompt is a list",
    )
    assert odd_fields({"tool_input": "{}"}) == ("tool_input is a string",)
    assert odd_fields({"tool_input": {}, "cwd": "", "prompt": "x"}) == ()


def dumped(value: Any, ascii_only: bool) -> str:
    return json.dumps(value, ensure_ascii=ascii_only)


@pytest.mark.parametrize("row", [{"a": 1, "b": "x"}, [], {}])
def test_what_a_tool_brought_becomes_text_when_it_has_too_many_parts(row):
    response = [row] * (MOST_CONTAINERS + 1)
    payload = {"tool_name": "Read", "tool_input": {"a": [1]}, "tool_response": response, "cwd": "/"}
    read, flags = read_payload(json.dumps(payload).encode())
    assert flags == ("response-is-text",)
    assert json.loads(read.pop("tool_response")) == response
    assert read == {"tool_name": "Read", "tool_input": {"a": [1]}, "cwd": "/"}


def test_an_input_with_too_many_parts_is_refused_whatever_its_tool_brought():
    many = {f"k{number}": number for number in range(MOST_KEYS + 1)}
    raw = json.dumps({"tool_input": many, "tool_response": many}).encode()
    assert "keys; send at most" in refusal(raw)
