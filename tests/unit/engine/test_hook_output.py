"""Every form of answer that hooks print: the client's, the tagged ones, plain text, and rubbish."""

import json
from typing import Any

import pytest

from snell.engine.hook_output import after_async, async_seconds, outcome_of, outcome_of_object
from snell.model.catalogue import CATALOGUE
from snell.model.decision import Failure, Outcome
from snell.model.effects import Allow, Ask, Defer, Deny, Effect, Env, Extra, Note, Rewrite, Stop, Tell
from tests.helpers import event

NEW = {"command": "make"}


def read(answer: Any, on: str = "PreToolUse") -> Outcome:
    return outcome_of(answer if isinstance(answer, str) else json.dumps(answer), event(on, tool_name="Bash"))


def effects(answer: Any, on: str = "PreToolUse") -> tuple[Effect, ...]:
    outcome = read(answer, on)
    assert (outcome.failure, outcome.remarks) == (None, ())
    return outcome.effects


def specific(on: str = "PreToolUse", **fields: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": on, **fields}}


@pytest.mark.proves("S1-141")
@pytest.mark.parametrize(
    "answer",
    ["", "  \n", "{}", '{"continue": true}', {"suppressOutput": False}, {"hookSpecificOutput": None}, {"reason": "x"}],
)
def test_an_answer_without_anything_to_say_means_go_on(answer: Any) -> None:
    assert read(answer) == Outcome()


@pytest.mark.proves("S1-71")
@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ('"Continue"', ()),
        ('"Reject"', (Deny("the hook refused without a reason"),)),
        ({"Continue": {}}, ()),
        ({"Reject": {"reason": "no"}}, (Deny("no"),)),
        ({"Reject": {}}, (Deny("the hook refused without a reason"),)),
        ({"Reject": "no"}, (Deny("no"),)),
        ({"Reject": None}, (Deny("the hook refused without a reason"),)),
        ({"Reject": {"reason": "no"}, "suppressOutput": True}, (Deny("no"), Extra("suppressOutput", True))),
        ({"action": "modify_input", "updated_input": {"command": "x"}}, (Rewrite({"command": "x"}),)),
        ({"ok": False, "reason": "no"}, (Deny("no"),)),
        ({"ok": True}, ()),
        ({"ModifyInput": {"new_input": NEW}}, (Rewrite(NEW),)),
        ({"action": "continue"}, ()),
        ({"action": "Continue"}, ()),
        ({"action": "reject", "reason": "no"}, (Deny("no"),)),
        ({"action": "Reject", "reason": "no"}, (Deny("no"),)),
        ({"action": "modify_input", "new_input": NEW}, (Rewrite(NEW),)),
        ({"action": "ModifyInput", "newInput": NEW}, (Rewrite(NEW),)),
        ({"action": "modifyInput", "new_input": NEW}, (Rewrite(NEW),)),
        ({"action": "continue_with_context", "context": "c"}, (Note("c"),)),
        ({"reject": {"reason": "no"}}, (Deny("no"),)),
        ({"modify_input": {"new_input": NEW}}, (Rewrite(NEW),)),
    ],
)
def test_tagged_answers_are_read(answer: Any, expected: tuple[Effect, ...]) -> None:
    assert effects(answer) == expected


@pytest.mark.proves("S1-144", "S1-145")
@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({"decision": "allow", "reason": "r"}, (Allow("r"),)),
        ({"decision": "approve", "reason": "r"}, (Allow("r"),)),
        ({"decision": "deny", "reason": "r"}, (Deny("r"),)),
        ({"decision": "block", "reason": "r"}, (Deny("r"),)),
        ({"decision": "ask"}, (Ask(),)),
        ({"decision": "defer"}, (Defer(),)),
        ({"permissionDecision": "deny", "permissionDecisionReason": "r"}, (Deny("r"),)),
        ({"permission_decision": "ask", "reason": "r"}, (Ask("r"),)),
        (specific(permissionDecision="allow", permissionDecisionReason="r"), (Allow("r"),)),
        (specific(permissionDecision="deny", permissionDecisionReason="r"), (Deny("r"),)),
        (specific(permissionDecision="ask"), (Ask(),)),
        (specific(permissionDecision="defer", permissionDecisionReason="r"), (Defer("r"),)),
        ({"decision": "approve", **specific(permissionDecision="deny")}, (Allow(), Deny())),
        ({"blockingError": "no"}, (Deny("no"),)),
    ],
)
def test_verdicts_are_read_with_their_reason(answer: Any, expected: tuple[Effect, ...]) -> None:
    assert effects(answer) == expected


@pytest.mark.parametrize(
    ("decision", "expected"),
    [
        ({"behavior": "allow"}, (Allow(),)),
        ({"behavior": "allow", "updatedInput": NEW}, (Allow(), Rewrite(NEW))),
        (
            {"behavior": "allow", "updatedPermissions": [{"type": "setMode"}]},
            (Allow(), Extra("updatedPermissions", [{"type": "setMode"}])),
        ),
        ({"behavior": "deny", "message": "no"}, (Deny("no"),)),
        ({"behavior": "deny", "message": "no", "interrupt": True}, (Deny("no"), Extra("interrupt", True))),
    ],
)
def test_a_permission_request_nests_its_verdict(decision: Any, expected: tuple[Effect, ...]) -> None:
    assert effects(specific("PermissionRequest", decision=decision), "PermissionRequest") == expected


@pytest.mark.proves("S1-146", "S1-90")
@pytest.mark.parametrize(
    ("on", "answer", "expected"),
    [
        ("PreToolUse", {"updated_input": NEW}, Rewrite(NEW)),
        ("PreToolUse", {"updatedInput": NEW}, Rewrite(NEW)),
        ("PreToolUse", specific(updatedInput=NEW), Rewrite(NEW)),
        ("PreToolUse", {"updatedInput": {}}, Rewrite({})),
        ("PostToolUse", specific("PostToolUse", updatedToolOutput={"stdout": "x"}), Rewrite({"stdout": "x"})),
        ("PostToolUse", specific("PostToolUse", updatedMCPToolOutput="x"), Rewrite("x")),
        ("PostToolUse", {"updated_output": "x"}, Rewrite("x")),
        ("UserPromptSubmit", {"updated_prompt": "new"}, Rewrite("new")),
        ("UserPromptSubmit", {"updatedInput": "new"}, Rewrite("new")),
        ("MessageDisplay", specific("MessageDisplay", displayContent="***"), Rewrite("***")),
    ],
)
def test_a_new_value_becomes_a_rewrite(on: str, answer: Any, expected: Rewrite) -> None:
    assert effects(answer, on) == (expected,)


@pytest.mark.parametrize("on", ["Stop", "PostToolUse", "SessionStart", "FromTomorrow"])
def test_an_updated_input_where_there_is_none_to_update_is_left_out(on: str) -> None:
    assert read({"updatedInput": NEW}, on).effects == ()


@pytest.mark.proves("S1-147", "S1-90")
@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({"additional_context": "c"}, (Note("c"),)),
        ({"additionalContext": "c"}, (Note("c"),)),
        (specific(additionalContext="c"), (Note("c"),)),
        ({"systemMessage": "m"}, (Tell("m"),)),
        ({"system_message": "m"}, (Tell("m"),)),
        ({"env": {"A": 1}}, (Env({"A": "1"}),)),
        ({"env_vars": {"A": "x"}}, (Env({"A": "x"}),)),
        ({"additionalContext": "", "systemMessage": ""}, ()),
    ],
)
def test_texts_and_variables_are_read(answer: Any, expected: tuple[Effect, ...]) -> None:
    assert effects(answer) == expected


@pytest.mark.proves("S1-143", "S1-158", "S1-90")
@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({"continue": False}, (Stop(),)),
        ({"continue": False, "stopReason": "enough"}, (Stop("enough"),)),
        ({"continue": False, "stop_reason": "enough"}, (Stop("enough"),)),
        ({"continue": False, "reason": "r"}, (Stop("r"),)),
        ({"prevent_continuation": True, "stop_reason": "enough"}, (Stop("enough"),)),
        (
            {"continue": False, "decision": "block", "reason": "no", "stopReason": "enough"},
            (Deny("no"), Stop("enough")),
        ),
        ({"continue": True, "stopReason": "not asked for"}, ()),
    ],
)
def test_continue_false_is_the_stop_effect_with_its_reason(answer: Any, expected: tuple[Effect, ...]) -> None:
    assert effects(answer) == expected


@pytest.mark.proves("S1-142")
@pytest.mark.parametrize(
    ("answer", "suppressed"),
    [
        ({}, False),
        ({"suppressOutput": True}, True),
        ({"suppress_output": True}, True),
        ({"suppressOutput": False}, False),
        ({"suppressOutput": "yes"}, False),
        ({"suppressOutput": True, "additionalContext": "c"}, True),
    ],
)
def test_output_is_suppressed_only_when_asked(answer: Any, suppressed: bool) -> None:
    assert (Extra("suppressOutput", True) in read(answer).effects) is suppressed


@pytest.mark.proves("S1-148")
@pytest.mark.parametrize("answer", [specific("PostToolUse"), {**specific("Stop"), "decision": "approve"}])
def test_a_specific_part_of_another_event_voids_the_answer_with_a_warning(answer: Any) -> None:
    named = answer["hookSpecificOutput"]["hookEventName"]
    complaint = f"hookSpecificOutput is for `{named}`, but the event is PreToolUse"
    assert read(answer) == Outcome(failure=Failure("output", complaint))


@pytest.mark.proves("S1-148")
@pytest.mark.parametrize("word", ["deny", "allow"])
def test_of_a_specific_part_without_a_name_only_what_restricts_counts(word: str) -> None:
    outcome = outcome_of(json.dumps({"hookSpecificOutput": {"permissionDecision": word}}), event("PreToolUse"))
    assert outcome.effects == ((Deny(),) if word == "deny" else ())
    assert outcome.failure == Failure("output", "hookSpecificOutput has no hookEventName")


@pytest.mark.parametrize(
    "outer", [{"decision": "block", "reason": "no"}, {"permissionDecision": "deny", "reason": "no"}]
)
def test_a_verdict_outside_is_not_undone_by_one_inside(outer: dict[str, str]) -> None:
    answer = {**outer, **specific("PreToolUse", permissionDecision="allow")}
    assert effects(answer) == (Deny("no"), Allow())


@pytest.mark.parametrize(
    "answer",
    [{"continue": "false"}, {"env": [1]}, {"ok": "yes"}, {"ModifyInput": {"command": "x"}}, {"Reject": 1, "x": 2}],
)
def test_what_cannot_be_meant_is_never_a_success(answer: dict[str, object]) -> None:
    outcome = outcome_of(json.dumps(answer), event("PreToolUse"))
    assert outcome.status in ("non_blocking_error", "blocking")


@pytest.mark.parametrize("on", [name for name, row in CATALOGUE.items() if row.extras])
def test_further_fields_of_the_event_are_read_in_both_places(on: str) -> None:
    names = sorted(CATALOGUE[on].extras)
    values = {name: f"value of {name}" for name in names} | ({"action": "accept"} if "action" in names else {})
    expected = tuple(Extra(name, values[name]) for name in names)
    assert (effects(specific(on, **values), on), effects(values, on)) == (expected, expected)


@pytest.mark.parametrize("action", ["accept", "decline", "cancel"])
def test_an_elicitation_is_answered_by_an_action(action: str) -> None:
    answer = specific("Elicitation", action=action, content={"name": "x"})
    assert effects(answer, "Elicitation") == (Extra("action", action), Extra("content", {"name": "x"}))


@pytest.mark.parametrize("on", ["PreToolUse", "Stop", "FromTomorrow"])
def test_a_terminal_sequence_is_read_on_every_event(on: str) -> None:
    assert effects({"terminalSequence": "bell"}, on) == (Extra("terminalSequence", "bell"),)


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        ({"decision": "maybe"}, "decision `maybe` is not one of allow, ask, defer, deny"),
        ({"decision": "Deny"}, "decision `Deny` is not one of allow, ask, defer, deny"),
        ({"decision": True}, "decision `True` is not one of allow, ask, defer, deny"),
        (
            {**specific(permissionDecision="no"), "additionalContext": "c"},
            "permission_decision `no` is not one of allow, ask, defer, deny",
        ),
        ({"hookSpecificOutput": "text"}, "hookSpecificOutput is not an object"),
        ({"decision": "allow", "reason": 7}, "reason is int, not text"),
        ({"permissionDecision": "ask", "permission_decision": "allow"}, "the answer gives `permission_decision` twice"),
        ({"additionalContext": ["c"]}, "additional_context is list, not text"),
        ({"systemMessage": {}}, "system_message is dict, not text"),
        (
            {"action": "explode"},
            "`explode` is not an action; use continue, reject, modify_input or continue_with_context",
        ),
    ],
)
def test_one_wrong_value_voids_the_whole_answer(answer: Any, complaint: str) -> None:
    assert read(answer) == Outcome(failure=Failure("output", complaint))


@pytest.mark.parametrize(
    "answer",
    [
        {"decision": "block", "reason": 5},
        {"permissionDecision": "deny", "systemMessage": 1},
        {"decision": "deny", "x": 1, "X": 2},
    ],
)
def test_a_plain_refusal_is_kept_whatever_else_is_wrong(answer: Any) -> None:
    outcome = read(answer)
    assert (outcome.status, outcome.failure is not None or "x" in answer) == ("blocking", True)


@pytest.mark.parametrize(
    "text",
    [
        '{"decision": "block", "decision": "approve"}',
        "{broken}",
        '{"decision": "deny",}',
        '{"a": 1}\n{"b": 2}',
        "{'decision': 'deny'}",
        "{" * 5000 + "}" * 5000,
        '{"a": NaN}',
    ],
    ids=["twice", "words", "trailing comma", "two objects", "python", "deep", "nan"],
)
def test_what_looks_like_json_and_is_not_is_a_failure(text: str) -> None:
    outcome = read(text)
    assert outcome.failure is not None
    assert outcome.failure.message.startswith("the answer ")
    assert (outcome.effects, outcome.failure.kind) == ((), "output")


PLAIN = ["hello", "[1, 2]", '"text"', "text {}", '{"begun": tr', "[]", "null", "0"]


@pytest.mark.parametrize("text", PLAIN)
@pytest.mark.parametrize(
    "on", ["SessionStart", "UserPromptSubmit", "UserPromptExpansion", "PostModelSwitch", "PreCompact"]
)
def test_plain_text_is_a_note_where_the_client_shows_it_to_the_model(text: str, on: str) -> None:
    assert read(f" {text}\n", on) == Outcome(effects=(Note(text),))


@pytest.mark.parametrize("on", ["PreToolUse", "PostToolUse", "Stop", "Notification", "FromTomorrow"])
def test_plain_text_elsewhere_goes_nowhere_and_the_trace_says_so(on: str) -> None:
    assert read("hello", on) == Outcome(remarks=(f"printed text, which goes nowhere on {on}",))


def test_the_last_line_of_a_worktree_hook_is_the_path() -> None:
    assert read("making it\nready\n/tmp/tree  \n", "WorktreeCreate").effects == (Extra("worktreePath", "/tmp/tree"),)


@pytest.mark.parametrize(
    "text", ['\ufeff{"decision": "deny"}', ' \n{"decision": "deny"}\n\n', '{"decision":\r\n"deny"}']
)
def test_marks_and_space_around_the_answer_do_not_matter(text: str) -> None:
    assert effects(text) == (Deny(),)


def test_unknown_keys_are_ignored_and_named() -> None:
    outcome = read({"decision": "deny", "colour": "red", "moreOfIt": 1})
    assert outcome == Outcome(effects=(Deny(),), remarks=("ignored `colour`, `more_of_it`",))


def test_an_answer_that_is_already_an_object_is_read_the_same_way() -> None:
    assert outcome_of_object({"decision": "deny", "reason": "no"}, event("PreToolUse")).effects == (Deny("no"),)


@pytest.mark.proves("S1-90", "S1-156", "S1-157")
@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ('{"async": true}', 0.0),
        ('{"async": true, "asyncTimeout": 1500}', 1.5),
        ('{"async":true,"asyncTimeout":300}\nmore', 0.3),
        ('\ufeff {"async": true}', 0.0),
        ('{"async": true, "async_timeout": 2000}', 2.0),
        ('{"async": true, "asyncTimeout": -5}', 0.0),
        ('{"async": true, "asyncTimeout": "soon"}', 0.0),
        ('{"async": false}', None),
        ('{"async": "true"}', None),
        ('{"async": tr', None),
        ('text {"async": true}', None),
        ("{}", None),
        ("", None),
    ],
)
def test_a_promise_to_go_on_in_the_background_is_read_with_its_limit_in_milliseconds(
    text: str, seconds: float | None
) -> None:
    assert async_seconds(text) == seconds


def test_the_real_answer_comes_after_the_promise() -> None:
    assert after_async('{"async": true}\n{"systemMessage": "done"}') == '\n{"systemMessage": "done"}'


@pytest.mark.parametrize(
    ("on", "answer", "expected"),
    [
        ("PreToolUse", {"permission": "deny", "user_message": "u", "agent_message": "a"}, (Deny("a"),)),
        ("PreToolUse", {"permission": "ask", "user_message": "u"}, (Ask("u"),)),
        ("PreToolUse", {"permission": "allow", "updated_input": NEW}, (Allow(""), Rewrite(NEW))),
        ("PreToolUse", {"permissionDecision": "allow", "modifiedArgs": NEW}, (Allow(""), Rewrite(NEW))),
        ("UserPromptSubmit", {"continue": False, "user_message": "not now"}, (Stop("not now"),)),
        ("Stop", {"followup_message": "go on"}, (Deny("go on"),)),
        ("PostToolUse", {"additional_context": "x", "followup_message": "no agent stops here"}, (Note("x"),)),
    ],
)
def test_the_words_of_other_clients_are_understood(on: str, answer: Any, expected: tuple[Effect, ...]) -> None:
    assert effects(answer, on) == expected


def test_an_unknown_permission_word_is_a_failure_and_no_approval() -> None:
    outcome = read({"permission": "maybe"})
    assert (outcome.effects, outcome.failure and outcome.failure.kind) == ((), "output")
