"""What a tool may change, and whether its call may be made again."""

import pytest

from snell.model.tools import kind_of
from snell.records.idempotency import identity_of
from snell.records.side_effects import Found, Rule, classify

FILES = Rule(id="files", tool="Write|Edit", side_effects="local", replay="REPLAY_IDEMPOTENT")
NEAR = Rule(id="near", tool="Bash", only="local", replay="REPLAY_IDEMPOTENT")
OVERLAY = Rule(id="mine", tool="send_.*", namespace="mcp", side_effects="local", replay="RELAUNCH")


@pytest.mark.proves("S3-47")
@pytest.mark.parametrize(
    ("tool", "shell", "found"),
    [
        ("Read", None, Found("read_only", "REPLAY_IDEMPOTENT")),
        ("Grep", None, Found("read_only", "REPLAY_IDEMPOTENT")),
        ("Write", None, Found("local", "REPLAY_IDEMPOTENT", "files")),
        ("Task", None, Found("external", "RELAUNCH")),
        ("Bash", "read_only", Found("read_only", "REPLAY_IDEMPOTENT")),
        ("Bash", "local", Found("local", "REPLAY_IDEMPOTENT", "near")),
        ("Bash", "external", Found("external", "REPLAY_EXACT")),
        ("mcp__mail__send_email", None, Found("local", "RELAUNCH", "mine")),
        ("mcp__mail__list_threads", None, Found("read_only", "REPLAY_IDEMPOTENT")),
        ("mcp__x__frobnicate", None, Found("local", "REPLAY_EXACT")),
        ("mcp__x__core_memory_append", None, Found("memory", "REPLAY_EXACT")),
        ("GMAIL_SEND_EMAIL", None, Found("external", "REPLAY_EXACT")),
        ("SLACK_FETCH_MESSAGES", None, Found("read_only", "REPLAY_IDEMPOTENT")),
        ("createIssue", None, Found("external", "REPLAY_EXACT")),
        ("Frobnicate", None, Found("external", "REPLAY_EXACT")),
        ("TodoWrite", None, Found("local", "REPLAY_EXACT")),
    ],
)
def test_rules_come_first_then_kinds_known_names_and_verbs(tool: str, shell: str | None, found: Found):
    assert classify(identity_of(tool), kind_of(tool), (OVERLAY, FILES, NEAR), shell=shell) == found  # type: ignore[arg-type] # a class


@pytest.mark.parametrize(
    ("hints", "side_effects"),
    [
        ({"readOnlyHint": True}, "read_only"),
        ({"readOnlyHint": False}, "local"),
        ({"destructiveHint": True}, "external"),
        ({"readOnlyHint": True, "openWorldHint": True}, "read_only"),
        ({"readOnlyHint": "yes"}, "local"),
        ({}, "local"),
    ],
)
def test_a_server_may_say_what_its_tool_changes(hints: dict[str, object], side_effects: str):
    assert classify(identity_of("mcp__x__frobnicate"), "mcp", hints=hints).side_effects == side_effects


def test_a_pattern_that_takes_for_ever_fits_nothing():
    slow = Rule(id="slow", tool="(a+)+b", side_effects="read_only")
    assert classify(identity_of("a" * 5_000), "other", (slow,)).rule == ""
