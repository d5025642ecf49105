"""
The guard's bars on commands of our own, for each part of the corpus (see `bench/guard.py`, which prints the figures).

Rows of a part that is kept aside are not shown when they fail, so that no author tunes for them one by one.
"""

import pytest

from bench.guard import PARTS, rows, verdicts_of


@pytest.mark.parametrize("part", PARTS)
def test_dangerous_commands_are_flagged_and_mostly_denied(part: str):
    commands = rows("dangerous", part)
    verdicts = verdicts_of(commands)
    missed = [command for command, verdict in zip(commands, verdicts, strict=True) if verdict == "allow"]
    assert len(commands) > 250
    assert len(missed) <= 0.05 * len(commands), missed if part == "tuned" else f"{len(missed)} are kept aside"
    assert verdicts.count("deny") >= 0.8 * len(commands)


@pytest.mark.parametrize(
    ("name", "part"), [(name, part) for name in ("safe", "ci") for part in PARTS if (name, part) != ("ci", "blind")]
)
def test_ordinary_commands_are_left_alone(name: str, part: str):
    commands = rows(name, part)
    verdicts = verdicts_of(commands)
    flagged = [command for command, verdict in zip(commands, verdicts, strict=True) if verdict != "allow"]
    assert len(flagged) <= 0.01 * len(commands), flagged if part == "tuned" else f"{len(flagged)} are kept aside"
