"""Strict JSON with lines."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snell.settings.read_json import read_json
from snell.settings.value_tree import InvalidValueError, Node, plain, text_of

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False, allow_infinity=False)
    # Half a surrogate pair is refused, so it is not drawn.
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abc\u00e9", max_size=3), inner, max_size=4),
    max_leaves=12,
)


def test_every_value_knows_the_line_of_its_key():
    text = '{\n "a": 1,\n "b": [\n  true,\n  {"c":\n null}]\n}'
    assert read_json(text) == Node({"a": Node(1, 2), "b": Node([Node(True, 4), Node({"c": Node(None, 5)}, 5)], 3)}, 1)


@given(JSON, st.sampled_from([None, 1, 2]))
def test_what_the_standard_library_writes_is_read_back(value, indent):
    node = read_json(json.dumps(value, indent=indent))
    assert node is not None
    assert plain(node) == value


@pytest.mark.parametrize("text", ["", "  \n\t "])
def test_an_empty_text_holds_nothing(text):
    assert read_json(text) is None


def test_a_byte_order_mark_is_skipped():
    assert read_json(text_of(b"\xef\xbb\xbf[]")) == Node([], 1)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ('{\n"a": 1,\n"a": 2}', 3, "the key `a` is given twice; keep one of them"),
        ("[1,\nNaN]", 2, "`NaN` is not a JSON value"),
        ("[-Infinity]", 1, "`-Infinity` is not a JSON value"),
        ("[1e999]", 1, "the number is too large; use a smaller one"),
        ("[" + "9" * 5000 + "]", 1, "the number is too large; use a smaller one"),
        ("{}\n\n{}", 3, "there is text after the end of the JSON value; remove it"),
        ('{\n// x\n"a": 1}', 2, "JSON has no comments; remove the comment, or write this file as TOML"),
        ('{"a": 1}\n# x', 2, "JSON has no comments; remove the comment, or write this file as TOML"),
        ("[1,\n]", 1, "there is a `,` before `]`; remove that comma"),
        ("{'a': 1}", 1, "a key in double quotes or `}` is missing here; quote the key"),
        ('{"a" 1}', 1, "a `:` is missing after the key `a`"),
        ("[1\n2]", 2, "a `,` or `]` is missing here; check commas and brackets"),
        ('{"a":\n', 2, "a value is missing here"),
        ('["\\ud800"]', 1, "the text holds half a surrogate pair; write the whole character"),
        ('["a\nb"]', 1, "bad text: invalid control character"),
        ('["abc', 1, "bad text: unterminated string starting"),
        ("[01]", 1, "a `,` or `]` is missing here"),
        ("nul", 1, "`nul` is not a JSON value"),
        ("[" * 200, 1, "values are nested more than 100 deep; flatten them"),
    ],
)
def test_what_another_reader_might_take_differently_is_refused_with_its_line(text, line, message):
    with pytest.raises(InvalidValueError) as caught:
        read_json(text)
    assert caught.value.line == line
    assert str(caught.value).startswith(message)


def test_bytes_that_are_not_utf_8_are_refused_with_their_line():
    with pytest.raises(InvalidValueError) as caught:
        text_of(b'{\n "a": "\xff"}')
    assert (caught.value.line, str(caught.value)) == (2, "the file is not valid UTF-8; save it as UTF-8")
