"""What a tool may change, and whether its call may be made again."""

import pytest

from snell.model.tools import kind_of
from snell.records.idempotency import identity_of
from snell.records.side_effects import Classification, Rule, classify, known_class

FILES = Rule(id="files", tool="Write|Edit", side_effects="local", replay="REPLAY_IDEMPOTENT")
DEPLOY = Rule(id="deploy", tool="PowerShell", side_effects="external")
NEAR = Rule(id="near", tool="Bash", only="local", replay="REPLAY_IDEMPOTENT")
OVERLAY = Rule(id="mine", tool="send_.*", namespace="mcp", side_effects="local", replay="RELAUNCH")


@pytest.mark.proves("S3-47")
@pytest.mark.parametrize(
    ("tool", "shell", "found"),
    [
        ("Read", None, Classification("read_only", "REPLAY_IDEMPOTENT")),
        ("Grep", None, Classification("read_only", "REPLAY_IDEMPOTENT")),
        ("Write", None, Classification("local", "REPLAY_IDEMPOTENT", "files")),
        ("Task", None, Classification("external", "RELAUNCH")),
        ("Bash", "read_only", Classification("read_only", "REPLAY_IDEMPOTENT")),
        ("Bash", "local", Classification("local", "REPLAY_IDEMPOTENT", "near")),
        ("Bash", "external", Classification("external", "REPLAY_EXACT")),
        (
            "PowerShell",
            "read_only",
            Classification("external", "REPLAY_EXACT", "deploy"),
        ),  # a rule comes before the line
        ("mcp__mail__send_email", None, Classification("local", "RELAUNCH", "mine")),
        ("mcp__mail__list_threads", None, Classification("read_only", "REPLAY_IDEMPOTENT")),
        ("mcp__x__frobnicate", None, Classification("local", "REPLAY_EXACT")),
        ("mcp__x__core_memory_append", None, Classification("memory", "REPLAY_EXACT")),
        ("GMAIL_SEND_EMAIL", None, Classification("external", "REPLAY_EXACT")),
        ("SLACK_FETCH_MESSAGES", None, Classification("read_only", "REPLAY_IDEMPOTENT")),
        ("createIssue", None, Classification("external", "REPLAY_EXACT")),
        ("Frobnicate", None, Classification("external", "REPLAY_EXACT")),
        ("TodoWrite", None, Classification("local", "REPLAY_EXACT")),
        ("TaskUpdate", None, Classification("local", "REPLAY_EXACT")),  # a known name comes before its verb
        ("mcp__files__create_directory", None, Classification("local", "REPLAY_EXACT")),
    ],
)
def test_rules_come_first_then_kinds_known_names_and_verbs(tool: str, shell: str | None, found: Classification):
    assert classify(identity_of(tool), kind_of(tool), (OVERLAY, FILES, DEPLOY, NEAR), shell=shell) == found  # type: ignore[arg-type] # a class


WRITING = """
add cancel create delete execute insert patch post publish push put remove reply send set submit update upload
"""
READING = "fetch find get list read search"


@pytest.mark.proves("S3-47")
def test_the_verbs_of_a_name_say_whether_it_changes_something():
    found = {verb: known_class(identity_of(f"mcp__x__{verb}_it"), "") for verb in f"{WRITING} {READING}".split()}
    assert found == dict.fromkeys(WRITING.split(), "external") | dict.fromkeys(READING.split(), "read_only")
    mixed = ("mcp__x__list_and_delete", "update_memory", "fetch_memory")
    assert [known_class(identity_of(name), "") for name in mixed] == ["external", "memory", "read_only"]


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
