"""Colours of a decision."""

import pytest

from snell.cli.terminal import Colours


@pytest.mark.parametrize(
    ("record", "code"),
    [
        ({"verdict": "deny"}, 31),
        ({"verdict": "deny", "changes": [1]}, 31),
        ({"verdict": "ask"}, 33),
        ({"verdict": "defer"}, 33),
        ({"verdict": "no_opinion", "changes": [1]}, 33),
        ({"verdict": "allow", "changes": [1]}, 33),
        ({"verdict": "allow"}, 32),
    ],
)
def test_red_stops_yellow_changes_or_asks_green_lets_through(record, code):
    assert Colours(on=True).of(record)("x") == f"\x1b[{code}mx\x1b[0m"
    assert Colours(on=False).of(record)("x") == "x"


def test_no_opinion_has_no_colour():
    assert Colours(on=True).of({"verdict": "no_opinion"})("x") == "x"
