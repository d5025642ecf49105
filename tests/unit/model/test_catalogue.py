"""The catalogue: every event of the client, by any spelling."""

import pytest

from snell.model.catalogue import (
    CATALOGUE,
    NEVER_BLOCKED_BY_FAILURE,
    TURN_ENDS,
    UNKNOWN,
    EventRow,
    canonical,
    nearest,
    row_of,
)
from snell.model.effects import Deny, Note, Rewrite
from tests.helpers import decided, event, hook, told

MATCHES = {
    "PreToolUse": "tool_name",
    "PermissionRequest": "tool_name",
    "PermissionDenied": "tool_name",
    "PostToolUse": "tool_name",
    "PostToolUseFailure": "tool_name",
    "PostToolBatch": "",
    "UserPromptSubmit": "",
    "UserPromptExpansion": "command_name",
    "SessionStart": "source",
    "SessionEnd": "reason",
    "Setup": "trigger",
    "Stop": "",
    "StopFailure": "error",
    "SubagentStart": "agent_type",
    "SubagentStop": "agent_type",
    "PreCompact": "trigger",
    "PostCompact": "trigger",
    "PreModelSwitch": "to_model",
    "PostModelSwitch": "to_model",
    "Notification": "notification_type",
    "MessageDisplay": "",
    "TaskCreated": "",
    "TaskCompleted": "",
    "TeammateIdle": "",
    "Elicitation": "mcp_server_name",
    "ElicitationResult": "mcp_server_name",
    "ConfigChange": "source",
    "InstructionsLoaded": "load_reason",
    "CwdChanged": "",
    "FileChanged": "file_path",
    "DirectoryAdded": "source",
    "WorktreeCreate": "",
    "WorktreeRemove": "",
}


@pytest.mark.proves("S1-14")
def test_all_33_events_are_rows_that_say_what_their_matcher_reads() -> None:
    assert len(MATCHES) == 33
    assert {name: row.matches for name, row in CATALOGUE.items()} == MATCHES


def test_the_rows_agree_with_themselves() -> None:
    effects = {"allow", "ask", "defer", "deny", "rewrite", "note", "tell", "stop", "env"}
    odd = {
        name
        for name, row in CATALOGUE.items()
        if row.name != name
        or not row.can <= effects
        or ("rewrite" in row.can) != bool(row.rewrites)
        or (row.text_is == "note" and "note" not in row.can)
        or (row.text_is not in ("", "note") and row.text_is not in row.extras)
    }
    assert odd == set()
    assert {name for name, row in CATALOGUE.items() if row.has_conversation} == {
        "PreToolUse",
        "PermissionRequest",
        "PermissionDenied",
        "PostToolUse",
        "PostToolUseFailure",
        "PostToolBatch",
        "UserPromptSubmit",
        "UserPromptExpansion",
        "Stop",
        "SubagentStop",
        "TaskCreated",
        "TaskCompleted",
        "TeammateIdle",
    }
    assert CATALOGUE.keys() >= NEVER_BLOCKED_BY_FAILURE | TURN_ENDS


@pytest.mark.proves("S1-13")
@pytest.mark.parametrize("name", CATALOGUE)
def test_an_event_may_be_spelled_in_four_ways(name: str) -> None:
    words = "".join(f"_{char.lower()}" if char.isupper() else char for char in name).lstrip("_")
    spellings = (name, words, words.replace("_", "-"), name[0].lower() + name[1:], name.lower(), words.upper())
    assert {canonical(each) for each in spellings} == {name}


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("AgentStop", "Stop"),
        ("agent_stop", "Stop"),
        ("UserPrompt", "UserPromptSubmit"),
        ("user-prompt", "UserPromptSubmit"),
    ],
)
def test_names_of_other_systems_are_understood(name: str, meant: str) -> None:
    assert canonical(name) == meant


@pytest.mark.proves("S1-154")
@pytest.mark.parametrize("name", ["FromTomorrow", "", "StatusLine", "status_line", "FileSuggestion", "Pre Tool Use"])
def test_an_unknown_name_stays_as_it_is_and_has_the_row_for_unknown_events(name: str) -> None:
    assert (canonical(name), row_of(name)) == (name, UNKNOWN)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("PreToolUes", "PreToolUse"),
        ("pre_tol_use", "PreToolUse"),
        ("PostToolFailure", "PostToolUseFailure"),
        ("SessonStart", "SessionStart"),
        ("SubAgentStopp", "SubagentStop"),
        ("zzz", ""),
        ("", ""),
    ],
)
def test_the_nearest_name_is_offered_for_a_misspelt_one(name: str, meant: str) -> None:
    assert nearest(name) == meant


def test_the_nearest_name_may_be_looked_for_elsewhere() -> None:
    assert (nearest("shel", ("shell", "edit")), nearest("qqq", ("shell", "edit"))) == ("shell", "")


@pytest.mark.proves("S1-14")
def test_one_more_row_is_all_that_a_new_event_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    row = EventRow(
        name="PreDeploy",
        matches="target",
        can=frozenset({"deny", "rewrite"}),
        rewrites="plan",
        extras=frozenset({"colour"}),
    )
    monkeypatch.setitem(CATALOGUE, "PreDeploy", row)  # type: ignore[arg-type]  # a dict behind its read-only type
    hooks = [
        hook("r", Rewrite({"steps": 2}), on="PreDeploy", role="rewrites"),
        hook("j", Deny("not on Fridays"), on="PreDeploy", matcher="production"),
    ]
    answers = [
        told(decided(event("PreDeploy", target=target, plan={}), *hooks)) for target in ("production", "staging")
    ]
    assert answers == [
        {"verdict": "deny", "reasons": [("j", "not on Fridays")], "changes": [("r", {"steps": 2})]},
        {"verdict": "no_opinion", "changes": [("r", {"steps": 2})]},
    ]


@pytest.mark.proves("S1-14")
def test_an_event_from_tomorrow_reaches_its_hooks_without_a_row() -> None:
    decision = decided(
        event("FromTomorrow", new_field=1), hook("a", lambda on: Note(str(on.payload["new_field"])), on="FromTomorrow")
    )
    assert told(decision) == {"verdict": "no_opinion", "notes": [("a", "1")]}
