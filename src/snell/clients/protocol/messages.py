"""Write the texts of replies: reasons, and what to do if the client cannot do what a hook wants."""

from typing import Any

from snell.model.decision import Decision
from snell.model.effects import Verdict
from snell.system.json_output import json_bytes


def reason_of(decision: Decision) -> str:
    """Return the reason of a refusal. Never empty: without a reason some clients invent one, or do not refuse."""
    if text := decision.reason.strip():
        return text
    hooks = _hooks_of(decision)
    return f"continue, as {hooks} requires" if decision.event.row.refusal_continues else f"refused by {hooks}"


def ask_reason(decision: Decision) -> str:
    """Return what the user has to decide; never empty."""
    return decision.reason.strip() or f"{_hooks_of(decision)} leaves this decision to a person"


def stop_reason(decision: Decision) -> str:
    """Return why the turn ends; empty if it does not."""
    return decision.stop.text.strip() or f"stopped by `{decision.stop.hook}`" if decision.stop else ""


def cannot_ask(decision: Decision, title: str, asks_when: str = "") -> str:
    """
    Return the refusal of a call that the user has to decide, for a client that cannot ask.

    `asks_when` says what the user does so that the client can ask; empty if it never can.
    """
    is_ask, tool = decision.verdict is Verdict.ASK, decision.event.tool_name
    mode, other = (" in its present mode", f", or {asks_when}") if is_ask and asks_when else ("", "")
    verb, call = "ask" if is_ask else "wait for", f"this `{tool}` call" if tool else "it"
    return (
        f"{ask_reason(decision)}\n"
        f"A person has to decide this. {title} cannot {verb} a person{mode}, so {call} is refused. "
        f"Tell the user: they can do it themselves{other}."
    )


def cannot_change(decision: Decision, title: str, after: Any) -> str:
    """Return the refusal of a call that a hook rewrites, for a client that cannot change calls."""
    by = changed_by(decision)
    return (
        f"{by} changes this call, and {title} cannot change it, so it is refused. Call it like this: {to_text(after)}"
    )


def other_prompt(decision: Decision, text: Any) -> str:
    """Return a note with the new wording of a prompt: no client can replace the prompt itself."""
    return f"The user's prompt was reworded by {changed_by(decision)}. Work on this wording of it:\n{text}"


def cannot_deliver_note(event: str, refusal: str) -> str:
    """Return a note for the model in place of a refusal that the client does not take."""
    return f"Do not act on the user's prompt: {refusal}" if event == "UserPromptSubmit" else refusal


def not_delivered(title: str, event: str, text: str) -> str:
    """Return a line for the client's log about a decision that this client cannot express."""
    return f"snell: {title} cannot express this answer at {event}: {text}"


def changed_by(decision: Decision) -> str:
    """Return the hooks that changed the event."""
    return ", ".join(dict.fromkeys(f"`{change.hook}`" for change in decision.changes))


def to_text(value: Any) -> str:
    """Return a string as it is, and anything else as JSON."""
    return value if isinstance(value, str) else json_bytes(value).decode("utf-8", "replace")


def _hooks_of(decision: Decision) -> str:
    return ", ".join(f"`{reason.hook}`" for reason in decision.reasons) or "a hook"
