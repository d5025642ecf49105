"""
The guard's bars on commands of our own.

One command a line: family, tab, command; `\\n` in lines with here-documents is a line break. A quarter, chosen by hash,
is kept aside: its rows are not printed when they fail, so that nobody tunes for them one by one.
"""

import hashlib
from pathlib import Path

import pytest

from snell.packs.guard.judge import judge

FOLDER = Path(__file__).parent / "guard_corpus"


def _rows(name: str, *, aside: bool) -> list[tuple[str, str]]:
    lines = (FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    rows = [(family, _command(text)) for family, _, text in (line.partition("\t") for line in lines)]
    return [row for row in rows if _is_aside(row[1]) == aside]


def _command(text: str) -> str:
    return text.replace("\\n", "\n") if "<<" in text or text.startswith("set -eux") else text


def _is_aside(command: str) -> bool:
    return hashlib.sha256(command.encode()).digest()[0] % 4 == 0


def _verdict(command: str) -> str:
    return judge(command, "/home/user/project", "/home/user").verdict


@pytest.mark.parametrize("aside", [False, True], ids=["tuned", "aside"])
def test_dangerous_commands_are_flagged_and_mostly_denied(aside: bool):
    rows = _rows("dangerous", aside=aside)
    verdicts = [_verdict(command) for _, command in rows]
    missed = [row for row, verdict in zip(rows, verdicts, strict=True) if verdict == "allow"]
    assert len(missed) <= 0.05 * len(rows), "kept aside" if aside else missed
    assert verdicts.count("deny") >= 0.8 * len(rows)


@pytest.mark.parametrize("name", ["safe", "ci"])
@pytest.mark.parametrize("aside", [False, True], ids=["tuned", "aside"])
def test_ordinary_commands_are_left_alone(name: str, aside: bool):
    rows = _rows(name, aside=aside)
    flagged = [command for _, command in rows if _verdict(command) != "allow"]
    assert len(flagged) <= 0.01 * len(rows), "kept aside" if aside else flagged
