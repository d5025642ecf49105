"""Parts of the page of one decision."""

from hypothesis import given
from hypothesis import strategies as st

from snell.cli.call_summary import summary
from snell.ui.numbers import number_in
from snell.ui.pages.decision import parts_of
from snell.ui.render import duration, link, size


def test_a_change_is_shown_word_by_word():
    parts = parts_of({"command": "npm test"}, {"command": "make test"})
    assert parts == [("gone", "npm"), ("new", "make"), ("same", " test")]


@given(st.text(), st.text())
def test_both_texts_of_a_change_are_complete(before: str, after: str):
    parts = parts_of(before, after)
    assert "".join(text for kind, text in parts if kind != "new") == before
    assert "".join(text for kind, text in parts if kind != "gone") == after


def test_a_call_is_named_by_what_says_most():
    assert summary({"description": "tidy", "command": "git status"}) == "git status"
    assert summary({"file_path": "/a", "content": "x"}) == "/a"
    assert summary({"one": 1, "two": 2}) == "one: 1, two: 2"
    assert summary(None) == ""


def test_only_numbers_that_a_row_can_have_are_read_from_an_address():
    given = {"a": "12", "b": "-1", "c": "²", "d": "9" * 40, "e": "x"}
    assert [number_in(given, name) for name in (*given, "missing")] == [12, 0, 0, 0, 0, 0]


def test_numbers_for_people():
    assert [duration(each) for each in (0.04, 12, 61_000, 3_600_000)] == ["0.0 ms", "12 ms", "61.0 s", "60 min"]
    assert [size(each) for each in (12, 1_500, 2_000_000)] == ["12 bytes", "1.5 KB", "2.0 MB"]
    assert link("/", text="a&b", verdict="", before=0) == "/?text=a%26b"
