"""`snell check command`: rows and answers."""

import pytest

from snell.cli.checks.command import check_row, lines
from snell.model.errors import SnellError


def test_a_row_is_answered_with_a_verdict_and_the_findings_behind_it():
    assert check_row({"id": 1, "command": "rm -rf /", "cwd": "/w", "home": "/h"}) == {
        "verdict": "deny",
        "findings": [{"rule": "delete-tree", "why": "it deletes the whole disk: `/`"}],
    }


def test_a_harmless_row_has_no_findings():
    assert check_row({"id": 1, "command": "ls -la", "cwd": "/w", "home": "/h"}) == {"verdict": "allow", "findings": []}


def test_a_row_without_a_command_is_refused():
    with pytest.raises(SnellError, match="`command` is missing"):
        check_row({"id": 1})


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("rm -rf '/tmp/x y' ''", "rm -rf '/tmp/x y' ''"),
        ('echo it\\\'s "a  b"', """echo 'it'"'"'s' 'a  b'"""),
        ('cat /srv/"$NAME"/*.txt', """cat /srv/"$UNKNOWN"'/*.txt'"""),
        ("cat $(head -1 list)", 'cat "$UNKNOWN"'),
        ("printf 'a\nb\\t'", r"printf $'a\u000ab\\t'"),
    ],
)
def test_a_command_that_would_run_is_shown_as_a_shell_reads_it(command: str, shown: str):
    def would_run(line: str) -> list[str]:
        told = lines({"command": line, "cwd": "/w", "home": "/h"}, {})
        return [each.strip() for each in told if "would run" in each]

    assert would_run(command)[-1] == f"would run: {shown}   in /w"
    assert would_run(shown)[-1] == f"would run: {shown}   in /w"
