"""
Check the inputs of tools.

Why      A call that lacks a field fails slowly, with an error that the model has to guess at.
What     The call is refused at once, with the missing fields and an example that would pass. JSON that came as text
         is parsed. After a failure that mentions validation, the right form is shown.
Instead  `[pack.tool_inputs] mode = "off"`, or an entry of your own for the tool.
"""

import re
from typing import Any

from snell.model.context import Context
from snell.model.effects import Deny, Note, Rewrite
from snell.model.events import Event
from snell.packs.tool_inputs.input_check import Faults, example_text, find_faults, repair_input
from snell.packs.tool_inputs.tool_schemas import Entry, entry_for
from snell.sdk.decorators import informs, judges, rewrites
from snell.system.lazy_regex import lazy_regex
from snell.system.mcp_tool_schemas import LearnedTool, learned_tool

MOST_INNER = 50
REPLAYING = "runs/replaying"  # a repeated call was checked the first time
_ODD_NAME = lazy_regex(r"[<>{}\[\]\"'`\s]")
_MARKUP = lazy_regex(r"<[^>]*>|</?(?:parameter|argument|invoke|arg_key|arg_value)\b")
_INVALID = lazy_regex(
    r"validation error|field required|input ?validation ?error|required parameter|missing required"
    r"|is a required property|invalid (?:input|argument)s?\b",
    re.IGNORECASE,
)
_UNKNOWN = lazy_regex(r"no such tool|unknown tool|tool [`'\"]?[\w.-]+[`'\"]? (?:was )?not found", re.IGNORECASE)


@rewrites("PreToolUse")
def repair(event: Event, context: Context) -> Rewrite | None:
    """Parse JSON that came as text."""
    if context.options.get("mode") == "off":
        return None
    given = event.payload.get("tool_input")
    better = repair_input(given, _entry(event, context))
    return None if better is None else Rewrite(better, because="arguments came as JSON in a text")


@judges("PreToolUse")
def check(event: Event, context: Context) -> Deny | None:
    """Refuse a call that lacks what its tool needs."""
    mode = context.options.get("mode")
    refusal = None if mode == "off" else _odd_name(_tool(event)) or _incomplete(event, context, mode)
    if refusal and context.marks.get(f"session:{event.session_id}", REPLAYING):
        return None  # the same input was checked the first time
    return refusal


def _incomplete(event: Event, context: Context, mode: object) -> Deny | None:
    found = _faults(event, context)
    if not found.hard and not (found.soft and mode == "strict"):
        return None
    return _refusal(event, _entry(event, context) or Entry(), (*found.hard, *found.soft))


@informs("PreToolUse", when={"mode": "guide"})
def mention(event: Event, context: Context) -> Note | None:
    """Mention what looks incomplete about a call that may still work."""
    entry = _entry(event, context)
    if entry is None or entry.schema is not None:
        return None  # with a schema every fault is hard
    lengths = {name: (_length(event.tool_input.get(name)), least) for name, least in entry.min_lengths.items()}
    poor = [
        f"{name} has {length} character{'s' if length > 1 else ''}, and {least} or more are usual"
        if length
        else f"{name} is empty"
        for name, (length, least) in lengths.items()
        if length is not None and length < least
    ]
    return Note(f"The call of {_tool(event)} looks incomplete: {', '.join(poor)}.") if poor else None


def _length(value: Any) -> int | None:
    """Return the length of a text, 0 for a blank one; None for other values."""
    if not isinstance(value, str):
        return None
    return len(value) if value.strip() else 0


@informs("PostToolUse", "PostToolUseFailure")
def hint(event: Event, context: Context) -> Note | None:
    """After a failure that mentions validation or an unknown tool, show what a good call looks like."""
    text = error_text(event)
    if context.options.get("mode") == "off" or not text:
        return None
    if _UNKNOWN.search(text):
        return Note(
            f"There is no tool `{event.tool_name or event.tool}`. Use one of the tools that are listed for you."
        )
    if not _INVALID.search(text):
        return None
    entry = _entry(event, context)
    example = example_text(entry) if entry else ""
    how = (
        f" A call that would pass: {example}"
        if example
        else " Read the tool's description and give every field that it requires."
    )
    return Note(f"The input of `{event.tool_name or event.tool}` did not have the right form.{how}")


def error_text(event: Event) -> str:
    """Return the error of a failed call; empty when it did not fail."""
    if event.name == "PostToolUseFailure":
        return str(event.payload.get("error") or "")[:20_000]
    response = event.tool_response
    if not isinstance(response, dict) or not (
        response.get("is_error") or response.get("isError") or response.get("error")
    ):
        return ""
    return str(response)[:20_000]


def _entry(event: Event, context: Context) -> Entry | None:
    # By the client's own name alone: another client's tool of the same kind may have other field names.
    return entry_for(_tool(event), context.options, _learned_schema(event, context))


def _learned_schema(event: Event, context: Context) -> LearnedTool | None:
    if event.kind != "mcp":
        return None
    days = context.options.get("learned_days")
    return learned_tool(
        context.state, event.client, context.project_dir, event.tool, days if isinstance(days, int) else 0
    )


def _tool(event: Event) -> str:
    return event.tool_name or event.tool


def _refusal(event: Event, entry: Entry, missing: tuple[str, ...]) -> Deny:
    tool = _tool(event)
    example = example_text(entry)
    what = "Missing required fields" if entry.schema is None else "What is wrong"
    return Deny(
        f"Invalid {tool} call. {what}: {', '.join(missing)}",
        instead=f"call it again with them. Example: {example}" if example else "call it again with them",
    )


def _faults(event: Event, context: Context) -> Faults:
    entry = _entry(event, context)
    if entry is None or "tool_input" not in event.payload:
        return Faults()  # a client that does not send inputs
    own = find_faults(event.payload.get("tool_input"), entry)
    if "tools" not in entry.required:
        return own
    inner = _batch_faults(event, context)
    return Faults((*own.hard, *inner.hard), (*own.soft, *inner.soft))


def _odd_name(name: str) -> Deny | None:
    if not _ODD_NAME.search(name):
        return None
    bare = re.split(r"[^\w.:/-]", name.strip("<>{}[]\"'` \t\n"), maxsplit=1)[0]
    if _MARKUP.search(name):
        why = "the tool's name contains markup of its arguments"
    else:
        why = "the tool's name contains brackets, quotes or blanks"
    return Deny(f"Invalid tool call: {why}.", instead=f"call `{bare}` and put the arguments into its input")


def _batch_faults(event: Event, context: Context) -> Faults:
    """Check the calls inside a batch, one by one."""
    tools: Any = event.tool_input.get("tools")
    hard: list[str] = []
    soft: list[str] = []
    for index, each in enumerate(tools[:MOST_INNER] if isinstance(tools, list) else ()):
        fields = each if isinstance(each, dict) else {}
        name = str(fields.get("tool_slug") or fields.get("tool") or fields.get("name") or "")
        if not name:
            hard.append(f"tools[{index}].tool_slug")
        elif entry := entry_for(name, context.options):
            found = find_faults(fields.get("arguments", fields.get("input")), entry)
            hard += [f"tools[{index}] {name}: {what}" for what in found.hard]
            soft += [f"tools[{index}] {name}: {what}" for what in found.soft]
    return Faults(tuple(hard), tuple(soft))
