"""What is said in words: reasons that are never empty, and what to do where a client cannot do what was asked for."""

from typing import Any

from snell.model.decision import Decision
from snell.model.effects import Verdict
from snell.system.json_output import json_bytes

KEEP_GOING = frozenset({"Stop", "SubagentStop", "TeammateIdle"})  # where refusing means that work goes on


def reason_of(decision: Decision) -> str:
    """Why it is refused; never empty, because a client would make up something, or not refuse at all."""
    if text := decision.reason.strip():
        return text
    hooks = _hooks_of(decision)
    return f"go on, by order of {hooks}" if decision.event.name in KEEP_GOING else f"refused by {hooks}"


def asked_about(decision: Decision) -> str:
    """Return what a person has to decide; never empty."""
    return decision.reason.strip() or f"{_hooks_of(decision)} leaves this to a person"


def stop_reason(decision: Decision) -> str:
    """Why the turn ends; empty when it does not."""
    return decision.stop.text.strip() or f"stopped by `{decision.stop.hook}`" if decision.stop else ""


def cannot_ask(decision: Decision, title: str, asks_when: str = "") -> str:
    """
    Return the refusal for a call that a person has to decide, in a client that cannot ask.

    `asks_when` tells what a person does so that it can; empty when it never does.
    """
    is_ask, tool = decision.verdict is Verdict.ASK, decision.event.tool_name
    mode, other = (" in its present mode", f", or {asks_when}") if is_ask and asks_when else ("", "")
    verb, call = "ask" if is_ask else "wait for", f"this `{tool}` call" if tool else "it"
    return (
        f"{asked_about(decision)}\n"
        f"A person has to decide this. {title} cannot {verb} a person{mode}, so {call} is refused. "
        f"Tell the user: they can do it themselves{other}."
    )


def cannot_change(decision: Decision, title: str, after: Any) -> str:
    """A rewrite for a client that runs what the model asked for, or nothing."""
    by = changed_by(decision)
    return (
        f"{by} changes this call, and {title} cannot change it, so it is refused. Call it like this: {to_text(after)}"
    )


def other_prompt(decision: Decision, text: Any) -> str:
    """A prompt cannot be replaced, so the model is given the new wording beside it."""
    return f"The user's prompt was reworded by {changed_by(decision)}. Work on this wording of it:\n{text}"


def cannot_deliver_note(event: str, refusal: str) -> str:
    """A refusal where the client takes none: all that is left is to tell the model."""
    return f"Do not act on the user's prompt: {refusal}" if event == "UserPromptSubmit" else refusal


def not_delivered(title: str, event: str, text: str) -> str:
    """For whoever reads the client's log: a decision that nothing in this client can express."""
    return f"snell: {title} takes no such answer at {event}: {text}"


def changed_by(decision: Decision) -> str:
    return ", ".join(dict.fromkeys(f"`{change.hook}`" for change in decision.changes))


def to_text(value: Any) -> str:
    return value if isinstance(value, str) else json_bytes(value).decode("utf-8", "replace")


def _hooks_of(decision: Decision) -> str:
    return ", ".join(f"`{reason.hook}`" for reason in decision.reasons) or "a hook"
