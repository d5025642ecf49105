"""YAML with lines, and nothing that could blow up."""

import pytest

from snell.settings.read_yaml import read_yaml
from snell.settings.value_tree import InvalidValueError, Node, plain


def test_every_value_knows_its_line_in_the_file():
    text = "a: 1\nb:\n  - x\n  - {c: 'true', d: on}\n"
    assert read_yaml(text, first_line=2) == Node(
        {"a": Node(1, 2), "b": Node([Node("x", 4), Node({"c": Node("true", 5), "d": Node("on", 5)}, 5)], 3)}, 2
    )


def test_plain_scalars_are_what_yaml_1_2_says():
    text = "[1, -2, 0x10, 0o17, 1.5, 1e3, true, False, null, ~, yes, 12:30, 2020-01-01, '1', \"2\", |-\n  x\n]"
    node = read_yaml(text.replace(", |-\n  x\n", ""))
    assert node is not None
    assert plain(node) == [
        1, -2, 16, 15, 1.5, 1000.0, True, False, None, None, "yes", "12:30", "2020-01-01", "1", "2",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("a: &x 1\n", 1, "anchors and aliases are not allowed"),
        ("a: 1\nb: *x\n", 2, "anchors and aliases are not allowed"),
        ("a: !!python/object/apply:os.system ['id']\n", 1, "tags are not allowed"),
        ("a: !!set {x}\n", 1, "tags are not allowed"),
        ("a: 1\nb: 2\na: 3\n", 3, "the key `a` is given twice"),
        ("a: [1\nb: 2\n", 2, "this is not valid YAML"),
        ("a: b: c\n", 1, "this is not valid YAML"),
        ("a: 1\n\t- b\n", 2, "this is not valid YAML"),
        ("? [x]\n: 1\n", 1, "a key must be text"),
        ("a: 1\n---\nb: 2\n", 2, "there is a second document"),
        ("a: " + "[" * 300, 1, "values are nested more than 100 deep"),
        ("a: " + "9" * 5000, 1, "the number is too long"),
        ("a: \x01", 1, "this is not valid YAML"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_its_line(text, line, message):
    with pytest.raises(InvalidValueError) as caught:
        read_yaml(text)
    assert (caught.value.line, str(caught.value)[: len(message)]) == (line, message)


@pytest.mark.parametrize("text", ["", "# nothing\n", "\n"])
def test_an_empty_text_holds_nothing(text):
    assert read_yaml(text) is None
