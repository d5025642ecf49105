"""
Reads what a hook printed as effects.

Several forms are understood, because hooks are written for several systems: Claude Code's object (with
`hookSpecificOutput` or the same fields at the top), Cursor's (`{"permission": "deny"}`), tagged results
(`{"Reject": {...}}`, `{"action": "reject"}`), and plain text where the client shows that to the model. An answer that
cannot be read is a failure, never an approval.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from snell.model.catalogue import TURN_ENDS
from snell.model.decision import Failure, Outcome
from snell.model.effects import Allow, Ask, Defer, Deny, Effect, Env, Extra, Note, Rewrite, Stop, Tell
from snell.model.events import Event

_WORD_STARTS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_JUDGEMENTS: dict[str, Callable[[str], Effect]] = {
    **dict.fromkeys(("allow", "approve"), Allow),
    "ask": Ask,
    "defer": Defer,
    **dict.fromkeys(("deny", "block"), Deny),
}
_TAGS = ("Reject", "ModifyInput", "Continue", "reject", "modify_input")


class UnreadableError(Exception):
    """The answer is invalid."""


def outcome_of(text: str, event: Event) -> Outcome:
    """Return the outcome that a hook's complete output stands for."""
    text = text.removeprefix("\ufeff").strip()
    if not text or text == '"Continue"':
        return Outcome()
    try:
        if text == '"Reject"':
            return outcome_of_object({"Reject": None}, event)
        answer = _parse(text)
        return _plain(text, event) if answer is None else outcome_of_object(answer, event)
    except UnreadableError as error:
        return Outcome(failure=Failure("output", str(error)))


def is_json(text: str) -> bool:
    """Return whether this is an answer, and not text that happened to be printed."""
    text = text.removeprefix("\ufeff").strip()
    return text.startswith("{") and text.endswith("}")


def outcome_of_object(answer: Mapping[str, Any], event: Event) -> Outcome:
    """Return the outcome of an answer that is already an object."""
    given = answer
    try:
        answer = _without_tag(answer)
        specific, is_named = _specific(answer, event)
        unknown = [key for key in answer if key not in _KNOWN.union(map(_snake, _extras(event)))]
        outcome = Outcome(
            effects=tuple(_effects(answer, specific, event)),
            remarks=(f"ignored `{'`, `'.join(unknown)}`",) if unknown else (),
        )
    except UnreadableError as error:
        return Outcome(_clear_refusal(given), Failure("output", str(error)))
    if is_named:
        return outcome
    # The client would ignore such an answer, so only what restricts counts.
    kept = tuple(effect for effect in outcome.effects if isinstance(effect, Deny | Ask))
    return Outcome(kept, Failure("output", "hookSpecificOutput has no hookEventName"), remarks=outcome.remarks)


def is_answer(result: Any) -> bool:
    """Return whether a Python function returned an answer in such a form, and not effects."""
    return isinstance(result, Mapping) or (isinstance(result, str) and result in ("Continue", "Reject"))


def outcome_of_answer(answer: Mapping[str, Any] | str, event: Event) -> Outcome:
    """Return the outcome of an answer that a Python function returned."""
    given = {answer: None} if isinstance(answer, str) else answer
    # `continue_`, since `continue` is a keyword of Python.
    return outcome_of_object({str(key).rstrip("_"): value for key, value in given.items()}, event)


def _clear_refusal(given: Mapping[str, Any]) -> tuple[Effect, ...]:
    """Return a deny for an answer that is invalid but clearly refuses."""
    refuses = any(given.get(key) in ("block", "deny") for key in ("decision", "permissionDecision", "permission"))
    return (Deny("the hook refused, in an answer that is not fully valid"),) if refuses else ()


def async_seconds(text: str) -> float | None:
    """Return the seconds for which `{"async": true}` asks to run in the background; None for any other answer."""
    try:
        answer, _ = _first_object(text)
    except UnreadableError:
        return None
    if not answer or answer.get("async") is not True:
        return None
    milliseconds = answer.get("asyncTimeout", answer.get("async_timeout"))
    return milliseconds / 1000 if isinstance(milliseconds, int | float) and milliseconds > 0 else 0.0


def after_async(text: str) -> str:
    """Return what a hook printed after its `{"async": true}`."""
    return _first_object(text)[1]


def _first_object(text: str) -> tuple[dict[str, Any] | None, str]:
    text = text.removeprefix("\ufeff").lstrip()
    end = text.find("}")
    if not text.startswith("{") or end < 0:
        return None, text
    try:
        return msgspec.json.decode(text[: end + 1], type=dict[str, Any]), text[end + 1 :]
    except (msgspec.DecodeError, RecursionError):
        return None, text


def _parse(text: str) -> dict[str, Any] | None:
    """Return the answer as an object; None if it is plain text."""
    if not is_json(text):
        return None
    try:
        found: dict[str, Any] = json.loads(text, object_pairs_hook=_without_repeats, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise UnreadableError(f"the answer looks like JSON but is not: {error}") from None
    return found


def _no_constant(name: str) -> Any:
    raise UnreadableError(f"the answer holds {name}, which is not JSON")


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse repeated names: one reader would take the first value, another the last."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise UnreadableError(f"the answer gives `{name}` twice")
        found[name] = value
    return found


def _snake_keys(given: Mapping[str, Any]) -> dict[str, Any]:
    return _without_repeats([(_snake(key), value) for key, value in given.items()])


def _plain(text: str, event: Event) -> Outcome:
    meaning = event.row.text_is
    if meaning == "note":
        return Outcome(effects=(Note(text),))
    if meaning:
        return Outcome(effects=(Extra(meaning, text.splitlines()[-1].strip()),))
    return Outcome(remarks=(f"printed text, which goes nowhere on {event.name}",))


def _without_tag(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tagged result (`{"Reject": {...}}`, `{"action": "reject"}`) in the form of the client's object."""
    tag = next((key for key in _TAGS if key in given), "")
    answer = _snake_keys({key: value for key, value in given.items() if key != tag})
    if tag:
        inner = given[tag]
        fields = _snake_keys(inner) if isinstance(inner, dict) else {}
        return _from_action(_snake(tag), answer | (fields or ({"reason": inner} if isinstance(inner, str) else {})))
    action = answer.get("action")
    if action is None or action in ("accept", "decline", "cancel"):  # those are an elicitation's
        return answer
    return _from_action(_snake(str(action)), {key: value for key, value in answer.items() if key != "action"})


def _from_action(action: str, answer: dict[str, Any]) -> dict[str, Any]:
    if action == "continue":
        return answer
    if action == "reject":
        return {**answer, "decision": "deny", "reason": answer.get("reason") or "the hook refused without a reason"}
    if action == "modify_input":
        new = answer.get("new_input", answer.get("updated_input"))
        if new is None:
            raise UnreadableError("a modified input needs `new_input`")
        return {**answer, "updated_input": new}
    if action == "continue_with_context":
        return {**answer, "additional_context": answer.get("context", answer.get("additional_context"))}
    raise UnreadableError(f"`{action}` is not an action; use continue, reject, modify_input or continue_with_context")


def _specific(answer: Mapping[str, Any], event: Event) -> tuple[dict[str, Any], bool]:
    """Return the part of the answer that is for this event, and whether it names the event."""
    inner = answer.get("hook_specific_output")
    if inner is None:
        return {}, True
    if not isinstance(inner, dict):
        raise UnreadableError("hookSpecificOutput is not an object")
    fields = _snake_keys(inner)
    named = fields.pop("hook_event_name", None)
    if named not in (None, event.name):
        raise UnreadableError(f"hookSpecificOutput is for `{named}`, but the event is {event.name}")
    decision = fields.pop("decision", None)
    if isinstance(decision, dict):  # PermissionRequest nests its verdict
        fields.update({_snake(key): value for key, value in decision.items()})
    elif decision is not None:
        fields["decision"] = decision
    return fields, named is not None


def _effects(outer: Mapping[str, Any], inner: Mapping[str, Any], event: Event) -> list[Effect]:
    effects = [*_judgements(outer), *_judgements(inner)]  # both count; the stricter one will win
    answer = {**outer, **inner}
    if answer.get("blocking_error"):
        effects.append(Deny(_text(answer, "blocking_error")))
    if _flag(answer, "continue") is False or _flag(answer, "prevent_continuation"):
        effects.append(Stop(_text(answer, "stop_reason") or _text(outer, "reason") or _text(answer, "user_message")))
    if event.name in TURN_ENDS and (text := _text(answer, "followup_message")):
        effects.append(Deny(text))
    rewrites = [key for key in _REWRITE_KEYS.get(event.row.rewrites, ()) if answer.get(key) is not None]
    effects += [Rewrite(answer[key]) for key in rewrites[:1]]
    if text := _text(answer, "additional_context"):
        effects.append(Note(text))
    if text := _text(answer, "system_message"):
        effects.append(Tell(text))
    if variables := answer.get("env") or answer.get("env_vars"):
        if not isinstance(variables, dict):
            raise UnreadableError("env is not an object")
        effects.append(Env({str(name): str(value) for name, value in variables.items()}))
    effects += [Extra("suppressOutput", True)] if answer.get("suppress_output") is True else []
    effects += [Extra(name, answer[_snake(name)]) for name in _extras(event) if _snake(name) in answer]
    return effects


def _judgements(answer: Mapping[str, Any]) -> list[Effect]:
    reason = next((text for key in _REASONS if (text := _text(answer, key))), "")
    found: list[Effect] = []
    for key in (key for key in _VERDICTS if answer.get(key) is not None):
        word = answer[key]
        if not isinstance(word, str) or word not in _JUDGEMENTS:
            raise UnreadableError(f"{key} `{word}` is not one of allow, ask, defer, deny")
        found.append(_JUDGEMENTS[word](reason))
    if _flag(answer, "ok") is False:  # the form in which prompt hooks answer
        found.append(Deny(reason or "the hook refused without a reason"))
    return found


_VERDICTS = ("decision", "permission_decision", "behavior", "permission")
_REASONS = ("permission_decision_reason", "reason", "message", "agent_message", "user_message")
_REWRITE_KEYS = {
    "tool_input": ("updated_input", "modified_args"),
    "tool_response": ("updated_tool_output", "updated_mcp_tool_output", "updated_output"),
    "prompt": ("updated_prompt", "updated_input"),
    "delta": ("display_content",),
}

_KNOWN = frozenset(
    (
        *(*_VERDICTS, *_REASONS, *(key for keys in _REWRITE_KEYS.values() for key in keys)),
        *("action", "additional_context", "async", "async_timeout", "blocking_error", "content", "context", "continue"),
        *("env", "env_vars", "followup_message", "hook_specific_output", "new_input", "ok", "prevent_continuation"),
        *("stop_reason", "suppress_output", "system_message"),
    )
)


def _extras(event: Event) -> list[str]:
    return sorted({*event.row.extras, "terminalSequence"})


def _text(answer: Mapping[str, Any], key: str) -> str:
    value = answer.get(key)
    if value is not None and not isinstance(value, str):
        raise UnreadableError(f"{key} is {type(value).__name__}, not text")
    return value or ""


def _flag(answer: Mapping[str, Any], key: str) -> bool | None:
    value = answer.get(key)
    if value is not None and not isinstance(value, bool):
        raise UnreadableError(f"{key} is {type(value).__name__}, not true or false")
    return value


def _snake(name: str) -> str:
    """Return a camelCase or PascalCase key in snake_case; `updatedMCPToolOutput` is `updated_mcp_tool_output`."""
    return _WORD_STARTS.sub("_", name).lower()
