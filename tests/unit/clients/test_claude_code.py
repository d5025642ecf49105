"""What Claude Code is told: only what it honours, and nothing that would void the rest."""

import json
from itertools import product
from typing import Any, cast

import pytest

from snell.clients.claude_code import SHAPES, decode, encode
from snell.model.catalogue import CATALOGUE, EventRow
from snell.model.decision import Decision, Reason
from snell.model.effects import Allow, Ask, Deny, Effect, Env, Extra, Note, Rewrite, Stop, Tell, Verdict
from snell.model.events import Event
from snell.model.protocols import Reply
from tests.golden.reading import FOLDER, event_of, golden_files, raw_payload
from tests.helpers import decide_event, hook

TOP = {"continue", "stopReason", "systemMessage", "suppressOutput", "terminalSequence", "hookSpecificOutput"}
BLOCK = {"decision", "reason"}
PERMISSION = {"permissionDecision", "permissionDecisionReason"}

# Keys that the real client honours (2.1.325): on top beside TOP, and in `hookSpecificOutput` beside `hookEventName`.
# Only the events whose keys do not follow from what their row says.
HONOURED: dict[str, tuple[set[str], set[str]]] = {
    "PreToolUse": (set(), PERMISSION | {"updatedInput", "additionalContext"}),
    "PermissionRequest": (set(), {"decision"}),
    "PostToolUse": (BLOCK, {"additionalContext", "updatedToolOutput", "classifierContext"}),
    "PreCompact": (BLOCK, set()),
    "Elicitation": (set(), {"action", "content"}),
    "ElicitationResult": (set(), {"action", "content"}),
    "MessageDisplay": (set(), {"displayContent"}),
}

GOOD_EXTRAS: dict[str, Any] = {
    "action": "accept",
    "classifierContext": "c",
    "content": {"a": "b"},
    "initialUserMessage": "hi",
    "interrupt": True,
    "reloadSkills": True,
    "retry": True,
    "sessionTitle": "t",
    "suppressOriginalPrompt": True,
    "suppressOutput": True,
    "terminalSequence": "\a",
    "updatedPermissions": [],
    "watchPaths": ["/home/dev/x"],
    "worktreePath": "/home/dev/x",
}


RECORDED = sorted({event_of(path) for path in golden_files("claude_code")})
NEW_ROWS = {
    "allow ask deny rewrite": {
        "hookSpecificOutput": {
            "hookEventName": "PreDeploy",
            "permissionDecision": "deny",
            "permissionDecisionReason": "no",
        }
    },
    "deny note": {
        "decision": "block",
        "reason": "no",
        "hookSpecificOutput": {"hookEventName": "PreDeploy", "additionalContext": "n"},
    },
    "note": {"hookSpecificOutput": {"hookEventName": "PreDeploy", "additionalContext": "n"}},
    "rewrite tell": {
        "systemMessage": "`h` would change `plan`, which Claude Code cannot; it stays unchanged",
    },
}


def honoured(row: EventRow) -> tuple[set[str], set[str]]:
    """The keys of an event: of its own, or those that follow from what its row says."""
    context = {"additionalContext"} if "note" in row.can else set()
    asks, denies = "ask" in row.can, "deny" in row.can
    usual = (BLOCK if denies and not asks else set(), context | row.extras | (PERMISSION if asks else set()))
    return HONOURED.get(row.name, usual)


def recorded(name: str) -> Event:
    return decode(raw_payload(FOLDER / "claude_code" / f"{name}.json"))


def answered(name: str, *effects: Effect) -> Reply:
    return encode(decide_event(recorded(name), hook("team/rule", effects, on=name.partition("-")[0])))


def said(name: str, *effects: Effect) -> Any:
    return json.loads(answered(name, *effects).stdout)


def test_only_events_of_the_catalogue_have_a_special_shape() -> None:
    assert SHAPES.keys() | HONOURED.keys() <= CATALOGUE.keys()


@pytest.mark.parametrize(("can", "answer"), NEW_ROWS.items())
def test_a_new_row_is_answered_in_the_form_that_fits_what_it_can_do(
    can: str, answer: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    rewrites = "plan" if "rewrite" in can else ""
    row = EventRow("PreDeploy", "target", frozenset(can.split()), rewrites)
    monkeypatch.setitem(cast(dict[str, EventRow], CATALOGUE), "PreDeploy", row)
    event = decode(b'{"hook_event_name": "PreDeploy", "target": "production", "plan": "all"}')
    effects = {"deny": Deny("no"), "note": Note("n"), "rewrite": Rewrite("one")}
    given = tuple(effect for name, effect in effects.items() if name in row.can)
    assert json.loads(encode(decide_event(event, hook("h", given, on="PreDeploy"))).stdout) == answer


@pytest.mark.parametrize("name", RECORDED)
def test_only_keys_that_the_client_honours_are_sent(name: str) -> None:
    rewrites = {"tool_input": {"command": "x"}, "tool_response": {"stdout": "x"}, "prompt": "x", "delta": "x"}
    verdicts: list[tuple[Effect, ...]] = [(), (Allow("a"),), (Ask("b"),), (Deny("c"),)]
    changes: list[tuple[Effect, ...]] = [(), (Rewrite(rewrites.get(CATALOGUE[name].rewrites, "x")),)]
    extras = tuple(Extra(*each) for each in GOOD_EXTRAS.items())
    top, specific = honoured(CATALOGUE[name])
    for verdict, change in product(verdicts, changes):
        stdout = answered(name, *verdict, *change, *extras, Note("n"), Tell("t"), Stop("s"), Env({"A": "b"})).stdout
        if not stdout.startswith(b"{"):
            assert name in {"PreCompact", "WorktreeCreate"}
            continue
        answer = json.loads(stdout)
        inner = answer.get("hookSpecificOutput", {"hookEventName": name})
        assert answer.keys() <= TOP | top
        assert inner.keys() <= {"hookEventName"} | specific
        assert inner["hookEventName"] == name


@pytest.mark.parametrize("value", [None, 1, "yes", [], {}, [1], object(), float("nan")])
def test_an_extra_of_a_wrong_type_is_left_out_so_that_the_deny_beside_it_counts(value: Any) -> None:
    for name in RECORDED:
        row = CATALOGUE[name]
        if "deny" not in row.can or name == "WorktreeCreate":
            continue
        wrong = tuple(Extra(extra, value) for extra in row.extras if type(value) is not type(GOOD_EXTRAS[extra]))
        assert answered(name, Deny("no"), *wrong) == answered(name, Deny("no"))


def test_a_rewrite_alone_never_becomes_an_approval() -> None:
    assert said("PreToolUse", Rewrite({"command": "ls"})) == {
        "hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {"command": "ls"}}
    }
    assert "hookSpecificOutput" not in said("PermissionRequest", Rewrite({"command": "ls"}))


def test_integers_beyond_64_bits_survive_a_rewrite() -> None:
    big = 2**70 + 1
    assert said("PreToolUse", Rewrite({"n": big}))["hookSpecificOutput"]["updatedInput"] == {"n": big}


def test_a_stop_without_a_reason_still_says_who_stopped() -> None:
    assert said("PreToolUse", Stop()) == {"continue": False, "stopReason": "stopped by `team/rule`"}


def test_a_refusal_without_a_reason_names_the_hooks() -> None:
    event = recorded("PreToolUse")
    two = decide_event(event, hook("a", Deny()), hook("b", Deny(" ")))
    assert json.loads(encode(two).stdout)["hookSpecificOutput"]["permissionDecisionReason"] == "refused by `a`, `b`"
    unnamed = Decision(event=event, verdict=Verdict.DENY)
    assert json.loads(encode(unnamed).stdout)["hookSpecificOutput"]["permissionDecisionReason"] == "refused by a hook"


def test_context_that_would_keep_a_finished_agent_going_is_not_sent() -> None:
    bare = Decision(event=recorded("Stop"), notes=(Reason("h", "by the way"),))
    assert encode(bare) == Reply()


def test_a_failure_alone_says_nothing_to_the_client() -> None:
    failed = decide_event(recorded("PreToolUse"), hook("h", ValueError("oops")))
    assert failed.failures
    assert encode(failed) == Reply()


@pytest.mark.parametrize("note", ['{"decision": "block"}', '\ufeff{"a": 1}', '  {"a": 1}', '\ufeff \ufeff{"a": 1}'])
def test_a_note_before_compaction_is_never_taken_for_an_answer(note: str) -> None:
    stdout = answered("PreCompact", Note(note)).stdout.decode()
    assert not stdout.lstrip("\ufeff \n").startswith("{")
    assert '"' in stdout


def test_plain_text_becomes_the_output_of_a_command() -> None:
    assert said("PostToolUse", Rewrite("[hidden]"))["hookSpecificOutput"]["updatedToolOutput"] == {
        "stdout": "[hidden]",
        "stderr": "",
        "interrupted": False,
        "isImage": False,
        "noOutputExpected": False,
    }
    assert said("PostToolUse-read", Rewrite("[hidden]"))["hookSpecificOutput"]["updatedToolOutput"] == "[hidden]"


def test_damaged_payloads_are_flagged_on_the_event() -> None:
    event = decode(b'\xef\xbb\xbf{"hook_event_name": "PreToolUse", "tool_name": null, "cwd": "\xff"}')
    assert event.flags == ("bom", "invalid-utf8", "tool_name is null")
    assert (event.tool, event.kind, event.cwd) == ("", "", "\ufffd")
