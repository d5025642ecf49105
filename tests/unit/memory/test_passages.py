"""The part of a long text that answers a question."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snell.memory.passages import passage

FILLER = "\n".join(f"Row {each} names a colour." for each in range(60))


def test_a_short_text_is_shown_as_it_is() -> None:
    assert passage("One. Two.", "two", 700) == "One. Two."


@pytest.mark.parametrize("place", [0, 1, 2])
def test_what_fits_is_shown_wherever_it_stands(place: int) -> None:
    parts = [FILLER, FILLER]
    parts.insert(place, "The gauge of the winch is 14 mm.")
    text = "\n".join(parts)
    shown = passage(text, "which gauge has the winch?", 300)
    assert ("The gauge of the winch is 14 mm." in shown, len(shown) <= 400) == (True, True)


def test_the_signal_is_shown_beside_what_fits() -> None:
    text = f"File: a.md\n{FILLER}\nThe winch is red.\n{FILLER}\nWe decided to use ropes of steel.\n{FILLER}"
    shown = passage(text, "the winch", 300)
    assert shown.startswith("File: a.md\n... ")
    assert shown.endswith("...")
    assert [each in shown for each in ("The winch is red.", "We decided to use ropes of steel.")] == [True, True]


def test_a_line_that_is_too_long_is_cut_around_the_word() -> None:
    shown = passage("x" * 900 + " " + "data " * 300 + "winch " + "data " * 300, "winch", 300)
    assert ("winch" in shown, len(shown) < 400) == (True, True)


def test_where_nothing_fits_it_is_the_beginning() -> None:
    assert passage(FILLER, "zebra", 100) == f"{FILLER[:100]}..."


@given(st.text(max_size=3_000), st.text(max_size=30), st.integers(50, 700))
def test_it_is_never_much_longer_than_it_may_be(text: str, question: str, most: int) -> None:
    assert len(passage(text, question, most)) <= max(most, 200 + 2 * most + 20)
