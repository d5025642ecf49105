from snell.memory.signals import LONGEST_STATEMENT, MOST_STATEMENTS, Statement, statements

TEXT = """Hello, how are you today? I looked at the code for a while.

We decided to use uv instead of pip. This is because pip took a minute.
- The fix was to lock rows in id order.
- nothing to see here, just a line

The fix was to lock rows in id order.
"""


def test_statements_that_say_something_lasting_are_found_once_with_their_reason():
    assert statements(TEXT) == [
        Statement("We decided to use uv instead of pip. This is because pip took a minute.", 0.8, 0.8, ("decision",)),
        Statement("The fix was to lock rows in id order.", 0.85, 0.85, ("solution",)),
    ]


def test_only_those_that_are_sure_enough_are_found():
    assert [each.types for each in statements(TEXT, 0.83)] == [("solution",)]
    assert statements("", 0.0) == statements("nothing lasting in here at all", 0.0) == []


def test_a_text_of_very_many_statements_gives_some_and_a_long_one_is_cut():
    many = "\n\n".join(f"We decided to use tool number {number} for this." for number in range(500))
    assert len(statements(many)) == MOST_STATEMENTS
    assert len(statements("We decided to use " + "x" * 5_000)[0].text) == LONGEST_STATEMENT
