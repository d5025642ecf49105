"""
Check the inputs of tools.

Why      A call that lacks a field fails slowly, with an error that the model has to guess at.
What     The call is refused at once, with the missing fields and an example that would pass. JSON that came as text
         is parsed. After a failed call the right form is shown if its input was wrong, and else what to do next.
Instead  `[pack.tool_inputs] mode = "off"`, `recovery_hints = false`, or an entry of your own for the tool.
"""

import re
import tomllib
from functools import cache, lru_cache
from pathlib import Path
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
_ODD_NAME = lazy_regex(r"[<>{}()\[\]\"'`\s]")
_MARKUP = lazy_regex(r"<[^>]*>|</?(?:parameter|argument|invoke|arg_key|arg_value)\b")
_INVALID = lazy_regex(
    r"validation error|field required|input ?validation ?error|required parameter|missing required"
    r"|is a required property|invalid (?:input|argument)s?\b",
    re.IGNORECASE,
)
_OF_SHELL = lazy_regex(r"\s*(?:<\w+>)?\s*(?:error: *)?InputValidationError", re.IGNORECASE)
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
    poor = []
    for name, least in entry.min_lengths.items():
        value = event.tool_input.get(name)
        if isinstance(value, str) and not value.strip():
            poor.append(f"{name} is empty")
        elif isinstance(value, str) and len(value) < least:
            characters = "1 character" if len(value) == 1 else f"{len(value)} characters"
            poor.append(f"{name} has {characters}, and {least} or more are usual")
    return Note(f"The call of {_tool(event)} looks incomplete: {', '.join(poor)}.") if poor else None


@informs("PostToolUse", "PostToolUseFailure")
def hint(event: Event, context: Context) -> Note | None:
    """After a failed call, show what a good one looks like if its input was wrong, and else what to do next."""
    text = error_text(event)
    if context.options.get("mode") == "off" or not text or event.payload.get("is_interrupt") is True:
        return None
    # The error of a shell command is what its program printed, which says nothing about the input of the tool.
    is_shell = event.kind == "shell" and not _faults(event, context).hard
    if not is_shell and _UNKNOWN.search(text):
        return Note(f"There is no tool `{_tool(event)}`. Use one of the tools that are listed for you.")
    if not (_OF_SHELL.match(text) if is_shell else _INVALID.search(text)):
        return Note(_recovery(text)) if context.options.get("recovery_hints") else None
    entry = _entry(event, context)
    example = example_text(entry) if entry else ""
    how = "Read the tool's description and give every field that it requires."
    how = f"A call that would pass: {example}" if example else how
    return Note(f"The input of `{_tool(event)}` did not have the right form. {how}")


def error_text(event: Event) -> str:
    """Return the error of a failed call; empty when it did not fail."""
    if event.name == "PostToolUseFailure":
        return str(event.payload.get("error") or "")[:20_000]
    response = event.tool_response
    failed = isinstance(response, dict) and any(response.get(key) for key in ("is_error", "isError", "error"))
    return str(response)[:20_000] if failed else ""


def _recovery(text: str) -> str:
    """Return what to do after this error."""
    return f"The call failed. {next(says for pattern, says in _recovery_hints() if pattern.search(text))}"


@cache
def _recovery_hints() -> list[tuple[re.Pattern[str], str]]:
    rows = tomllib.loads(Path(__file__).with_name("recovery.toml").read_text(encoding="utf-8"))["hint"]
    return [(re.compile(row["pattern"], re.IGNORECASE), row["says"]) for row in rows]


def _entry(event: Event, context: Context) -> Entry | None:
    # By the client's own name alone: another client's tool of the same kind may have other field names.
    learned = None if event.kind != "mcp" else _learned_schema(event, context)
    return entry_for(event.tool_name or event.tool, context.options, learned)


def _learned_schema(event: Event, context: Context) -> LearnedTool | None:
    days = context.options.get("learned_days")
    days = days if isinstance(days, int) else 0
    return learned_tool(context.state, event.client, context.project_dir, event.tool, days)


def _tool(event: Event) -> str:
    return event.tool_name or event.tool


def _refusal(event: Event, entry: Entry, missing: tuple[str, ...]) -> Deny:
    what = "Missing required fields" if entry.schema is None else "What is wrong"
    example = f". Example: {text}" if (text := example_text(entry)) else ""
    because = f"Invalid {_tool(event)} call. {what}: {', '.join(missing)}"
    return Deny(because, instead=f"call it again with them{example}")


def _faults(event: Event, context: Context) -> Faults:
    entry = _entry(event, context)
    if entry is None or "tool_input" not in event.payload:
        return Faults()  # a client that does not send inputs
    own = find_faults(event.payload.get("tool_input"), entry)
    if "tools" not in entry.required:
        return own
    inner = _batch_faults(event, context)
    return Faults((*own.hard, *inner.hard), (*own.soft, *inner.soft))


@lru_cache(maxsize=256)
def _odd_name(name: str) -> Deny | None:
    if not _ODD_NAME.search(name):
        return None
    bare = re.split(r"[^\w.:/-]", name.strip("<>{}[]\"'` \t\n"), maxsplit=1)[0]
    what = "markup of its arguments" if _MARKUP.search(name) else "brackets, quotes or blanks"
    return Deny(
        f"Invalid tool call: the tool's name contains {what}.",
        instead=f"call `{bare}` and put the arguments into its input",
    )


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
