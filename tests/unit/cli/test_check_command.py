"""`snell check command`: rows and answers."""

import pytest

from snell.cli.checks.command import check_row
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
