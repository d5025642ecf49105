"""TOML with lines: the values are the standard library's, the lines our locator's."""

import tomllib

import pytest

from snell.settings.read_toml import read_toml
from snell.settings.value_tree import InvalidValueError, Node, plain

EVERYTHING = '''\
# a comment [not] a = "table"
title = "x" # and one behind
"quoted key" = 1
'literal' = 'C:\\path'
dotted.key.deep = true
"esc\\u0041ped" = 2

long = """
[[hooks]]
not = "a key"
\\""" still \\\\""""" # five quotes end it
other = \'\'\'
a = 1
\'\'\'
list = [
  1, # one
  "two, ]",
  [3,
   4],
  { a = 5, b.c = 6 },
]
inline = { x = 1, "y z" = { deep = [ 1 ] } }
when = 1979-05-27 07:32:00

[table]
a = 1

[[hooks]]
event = "one"
[hooks.shell]
command = """
two
lines"""

[[hooks]]
event = "two"
[hooks.webhook.headers]
A = "b"

[[hooks.inner]]
n = 1
[[hooks.inner]]
n = 2

[table.late]
b = 2
'''


def test_values_are_those_of_the_standard_library():
    node = read_toml(EVERYTHING)
    assert node is not None
    expected = tomllib.loads(EVERYTHING)
    expected["when"] = expected["when"].isoformat()
    assert plain(node) == expected


def test_every_value_knows_its_line():
    lines = dict(lines_of(read_toml(EVERYTHING)))
    text = EVERYTHING.splitlines()

    def line(start: str, nth: int = 1) -> int:
        return [number for number, each in enumerate(text, 1) if each.startswith(start)][nth - 1]

    assert {path: lines[path] for path in lines if path.count("/") < 4} == {
        "": 1,
        "/title": 2,
        "/quoted key": 3,
        "/literal": 4,
        "/dotted": 5,
        "/dotted/key": 5,
        "/dotted/key/deep": 5,
        "/escAped": 6,
        "/long": line("long"),
        "/other": line("other"),
        "/list": line("list"),
        "/list/0": line("  1,"),
        "/list/1": line('  "two'),
        "/list/2": line("  [3"),
        "/list/2/0": line("  [3"),
        "/list/2/1": line("   4"),
        "/list/3": line("  { a"),
        "/list/3/a": line("  { a"),
        "/list/3/b": line("  { a"),
        "/inline": line("inline"),
        "/inline/x": line("inline"),
        "/inline/y z": line("inline"),
        "/inline/y z/deep": line("inline"),
        "/when": line("when"),
        "/table": line("[table]"),
        "/table/a": line("[table]") + 1,
        "/table/late": line("[table.late]"),
        "/table/late/b": line("[table.late]") + 1,
        "/hooks": line("[[hooks]]", 2),  # the first one is inside a text
        "/hooks/0": line("[[hooks]]", 2),
        "/hooks/0/event": line("[[hooks]]", 2) + 1,
        "/hooks/0/shell": line("[hooks.shell]"),
        "/hooks/1": line("[[hooks]]", 3),
        "/hooks/1/event": line("[[hooks]]", 3) + 1,
        "/hooks/1/webhook": line("[hooks.webhook"),
        "/hooks/1/inner": line("[[hooks.inner]]"),
    }
    assert lines["/list/3/b/c"] == line("  { a")
    assert lines["/hooks/0/shell/command"] == line("[hooks.shell]") + 1
    assert lines["/hooks/1/inner/1/n"] == line("[[hooks.inner]]", 2) + 1
    assert lines["/hooks/1/webhook/headers/A"] == line("[hooks.webhook") + 1


def test_a_file_with_windows_line_ends_has_the_same_lines():
    found = dict(lines_of(read_toml(EVERYTHING.replace("\n", "\r\n"))))
    assert found == dict(lines_of(read_toml(EVERYTHING)))


@pytest.mark.parametrize("text", ["", "\n\n", "# nothing\n"])
def test_an_empty_text_holds_nothing(text):
    assert read_toml(text) is None


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("a = 1\nb = \n", 2, "this is not valid TOML: invalid value"),
        ("a = 1\na = 2\n", 2, "this is not valid TOML: cannot overwrite a value"),
        ("x = 1\ny = [1,\n", 2, "this is not valid TOML: invalid value"),
        ("x = 1\n[t\n", 2, "this is not valid TOML: expected ']' at the end of a table declaration"),
        ("x = " + "[" * 5000, 1, "values are nested too deep; flatten them"),
        ("x = 1\n" + "a." * 500 + "a = 1", 2, "a key has more than 8 parts; use fewer dots"),
        ("x = {" + "a . " * 500 + "}", 1, "a key has more than 8 parts; use fewer dots"),
        ("x = 1" + "0" * 5000, 1, "this is not valid TOML"),
    ],
)
def test_what_is_not_toml_is_refused_with_its_line(text, line, message):
    with pytest.raises(InvalidValueError) as caught:
        read_toml(text)
    assert (caught.value.line, str(caught.value)[: len(message)]) == (line, message)


def test_dotted_words_in_a_text_are_no_long_key():
    text = 'x = "a.b.c.d.e.f.g.h.i.j.k"\n'
    assert read_toml(text) == Node({"x": Node("a.b.c.d.e.f.g.h.i.j.k", 1)}, 1)


def lines_of(node: Node, path: str = ""):
    yield path, node.line
    children = node.value.items() if node.is_table else enumerate(node.value) if node.is_list else ()
    for name, child in children:
        yield from lines_of(child, f"{path}/{name}")
