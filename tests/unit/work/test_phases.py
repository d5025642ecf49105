"""Which phase may follow which."""

from typing import Any

import pytest

from snell.work.errors import WorkError
from snell.work.phases import check_move

PHASES = [
    {"label": "1", "name": "Plan"},
    {"label": "2", "name": "Build"},
    {"label": "2.1", "name": "Parser"},
    {"label": "2.2", "name": "Lexer"},
    {"label": "3", "name": "Check"},
]


@pytest.mark.proves("S2-139")
@pytest.mark.parametrize(
    ("current", "wanted", "reason", "expected"),
    [
        (None, "1", None, "1: Plan"),
        (None, "1: whatever", None, "1: Plan"),
        (None, "2", None, "PHASE_NOT_SEQUENTIAL"),
        ("1: Plan", "2", None, "2: Build"),
        ("1: Plan", "1", None, "same 1: Plan"),
        ("1: Plan", "3", None, "PHASE_NOT_SEQUENTIAL"),
        ("1: Plan", "3", "there is nothing to build", "3: Check"),
        ("2: Build", "1", None, "PHASE_NOT_SEQUENTIAL"),
        ("2.1: Parser", "3", None, "3: Check"),
        ("2: Build", "3", None, "PHASE_NOT_SEQUENTIAL"),
        ("2.2: Lexer", "2.3: More", None, "2.3: More"),
        ("2.2: Lexer", "2.C", None, "2.C"),
        ("2.2: Lexer", "2.A", None, "UNKNOWN_PHASE"),
        ("2.2: Lexer", "3.1", None, "UNKNOWN_PHASE"),
        ("2.2: Lexer", "9", "because", "UNKNOWN_PHASE"),
        ("gone: away", "3", None, "3: Check"),
        ("1: Plan", "", "because", "VALIDATION_ERROR"),
        ("1: Plan", " : Build", "because", "VALIDATION_ERROR"),
    ],
)
def test_only_the_next_phase_is_allowed_without_a_reason(current: str | None, wanted: str, reason: str, expected: str):
    assert _came_of(current, wanted, reason) == expected


def test_an_undeclared_part_is_put_after_the_present_one():
    labels = [each["label"] for each in check_move(PHASES, "2.2: Lexer", "2.3: More").phases]
    assert labels == ["1", "2", "2.1", "2.2", "2.3", "3"]


def test_a_skill_without_phases_is_held_to_none():
    assert check_move([], None, "5: Anything").phase == "5: Anything"
    assert check_move([], "5: Anything", "5: Anything").is_change is False


def _came_of(current: str | None, wanted: str, reason: str) -> str:
    try:
        move = check_move(PHASES, current, wanted, reason)
    except WorkError as error:
        return error.code
    return ("" if move.is_change else "same ") + move.phase


@pytest.mark.parametrize("odd", [5, "phases", {"label": "1"}, None, [5, None, {"label": ["1"]}, {"label": " "}, {}]])
def test_what_declares_no_phases_holds_to_none(odd: Any):
    assert check_move(odd, None, "1: Plan").phase == "1: Plan"


def test_a_label_may_be_a_number():
    assert check_move([{"label": 1}, {"label": 1.5}, {"label": 2}], "1.5", "2").phase == "2"
