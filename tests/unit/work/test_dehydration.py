"""What one window leaves for the next."""

from typing import Any

import pytest

from snell.work.dehydration import from_artefacts, recovery_block, validate_payload
from snell.work.errors import WorkError

GOOD = {"summary": "s", "lastAction": "l", "nextSteps": ["n"], "requiredFiles": ["/f"]}


@pytest.mark.proves("S2-141")
@pytest.mark.parametrize(
    ("given", "issues"),
    [
        (None, ["payload: must be an object"]),
        ([], ["payload: must be an object"]),
        (
            {},
            [
                "summary: must be text",
                "lastAction: must be text",
                "nextSteps: must be a list of texts",
                "requiredFiles: must be a list of texts",
            ],
        ),
        ({**GOOD, "summary": "  "}, ["summary: must be text"]),
        ({**GOOD, "nextSteps": [1]}, ["nextSteps: must be a list of texts"]),
        ({**GOOD, "userHistory": 7}, ["userHistory: must be text"]),
    ],
)
def test_a_payload_that_lacks_something_is_refused_with_everything_that_it_lacks(given: Any, issues: list[str]):
    with pytest.raises(WorkError) as caught:
        validate_payload(given)
    assert (caught.value.code, caught.value.details) == ("VALIDATION_ERROR", {"issues": issues})


@pytest.mark.proves("S2-141")
def test_at_most_eight_files_are_kept_with_a_warning():
    files = [f"/f{number}" for number in range(200)]
    kept, warnings = validate_payload({**GOOD, "requiredFiles": files, "more": "ignored"})
    assert (kept, warnings) == (
        {**GOOD, "requiredFiles": files[:8]},
        ["requiredFiles: the first 8 of 200 are kept"],
    )
    assert validate_payload({**GOOD, "handoverInstructions": "h"}) == ({**GOOD, "handoverInstructions": "h"}, [])


def test_the_recovery_block_says_everything_in_order():
    effort = {"skill": "build", "currentPhase": "2: Build"}
    payload = {**GOOD, "handoverInstructions": "h", "userHistory": "u"}
    assert recovery_block(payload, 7, effort).split("\n") == [
        "## Session recovery",
        "Session 7 · skill build · phase 2: Build",
        "Summary: s",
        "Last action: l",
        "Next steps:",
        "- n",
        "Handover: h",
        "What the user asked for: u",
    ]


def test_a_window_that_left_nothing_is_made_up_for_from_files():
    effort = {"skill": "build", "currentPhase": None}
    made = from_artefacts({"title": None, "dirPath": "/t"}, effort, [f"/t/{n}.md" for n in range(20)])
    assert (len(made["requiredFiles"]), validate_payload(made)[1]) == (8, [])
