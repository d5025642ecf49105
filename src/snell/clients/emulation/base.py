"""The base of all emulations: translate tool calls into a client's names, and changed calls back."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct

from snell.clients.protocol.table import ClientTable
from snell.clients.protocol.tool_inputs import native_input
from snell.engine.hook_output import outcome_of_object
from snell.engine.match import compile_matcher
from snell.model.decision import Failure, Outcome
from snell.model.effects import Deny
from snell.model.errors import PatternError, PayloadError
from snell.model.events import Event, Payload, text_in
from snell.model.hooks import Hook
from snell.model.protocols import ProgramOutput
from snell.model.tools import KINDS, mcp_parts, names_of
from snell.system.json_input import read_object

_ABSENT = object()


class Call(Struct, frozen=True):
    """A tool call in a client's own names."""

    name: str
    input: Payload
    is_composed: bool = False  # made of several edits, so that a changed input cannot be translated back


class Emulation:
    """Emulates one event of one client."""

    table: ClientTable
    also: Mapping[str, str] = {}  # Claude Code's tool -> this client's nearest, where its table has none
    matcher_type: str | None = "regex"

    def __init__(self, native: str) -> None:
        self.native = native

    @property
    def title(self) -> str:
        return self.table.title

    def payloads_for(self, event: Event, project: str) -> Sequence[Payload]:
        raise NotImplementedError

    def answer(self, event: Event, given: Payload, said: ProgramOutput) -> Outcome | None:
        raise NotImplementedError

    def variables(self, event: Event, project: str) -> dict[str, str]:
        return {}

    def folder(self, hook: Hook) -> str:
        return ""

    def match_values(self, event: Event, given: Payload) -> Sequence[str]:
        """Return the names that a matcher is compared with; empty if the event has no matcher."""
        tool = text_in(given, "tool_name") or text_in(given, "toolName")
        name = tool or text_in(event.payload, event.row.matches)
        return (name,) if name else ()

    def is_wanted(self, matcher: str, event: Event, given: Payload) -> bool:
        names = self.match_values(event, given)
        if matcher in ("", "*") or not names:
            return True
        try:
            fits = compile_matcher(self.pattern(matcher), self.matcher_type, event.row)
            return fits is None or any(fits(name) for name in names)
        except PatternError:
            return True  # an invalid pattern must not skip a guard

    def pattern(self, matcher: str) -> str:
        return matcher

    def is_unreported(self, event: Event) -> bool:
        """Return whether the client does not report this failure: some report failed commands only."""
        is_done = self.native.lower() == "posttooluse"
        return is_done and event.name == "PostToolUseFailure" and event.kind != "shell"

    def call(self, event: Event) -> Call:
        """Return the event's tool call in this client's names."""
        name = self.tool("Bash" if event.kind == "shell" and event.tool not in KINDS else event.tool)
        ours, is_composed = _one_edit(event.readable_input)
        return Call(name, native_input(self.table, name, ours, ours), is_composed)

    def tool(self, ours: str) -> str:
        """Return this client's name for a tool, else Claude Code's."""
        server, method = mcp_parts(ours)
        if method and self.table.mcp_name:
            prefix, joint = self.table.mcp_name
            return f"{prefix}{server}{joint}{method}" if joint else f"{prefix}{method}"
        for wanted in names_of(ours):
            if name := self.own_name(wanted):
                return name
        return self.also.get(ours, ours)

    def own_name(self, ours: str) -> str:
        return next((name for name, tool in self.table.tools.items() if tool.name == ours), "")

    def claude_input(self, event: Event, changed: Any, *, is_complete: bool) -> Payload | None:
        """Return an input that the program changed, under Claude Code's keys; None if it cannot be translated."""
        if not isinstance(changed, dict):
            return None
        call = self.call(event)
        keys = self.table.tools[call.name].keys if call.name in self.table.tools else {}
        new = {keys.get(key, key): value for key, value in changed.items() if call.input.get(key, _ABSENT) != value}
        if call.is_composed and new.keys() - {"file_path"}:
            return None
        gone = {keys.get(key, key) for key in call.input.keys() - changed.keys()} if is_complete else set()
        return {key: value for key, value in event.tool_input.items() if key not in gone} | new

    def in_claude_form(self, event: Event, answer: Payload) -> Payload:
        """Return an answer of this client under Claude Code's keys."""
        raise NotImplementedError

    def outcome_of_text(self, event: Event, text: str, plain: Outcome) -> Outcome:
        """Return the outcome of what a program printed; `plain`, if that is not JSON."""
        try:
            answer = parse_object(text)
        except PayloadError as error:
            return Outcome(failure=Failure("output", f"the answer is not valid JSON: {error}"))
        return plain if answer is None else outcome_of_object(self.in_claude_form(event, answer), event)

    def refuse_change(self) -> Payload:
        """Return a refusal in place of a changed input that cannot be translated back."""
        why = f"a hook that was written for {self.title} changes this call, and Snell cannot translate that"
        return {"decision": "deny", "reason": f"{why}, so it is refused"}


def edits_of(given: Payload) -> list[dict[str, str]]:
    """Return the edits of a call, each with old and new text; a written file has no old text."""
    if isinstance(edits := given.get("edits"), list):
        return [edit for each in edits if isinstance(each, dict) for edit in edits_of(each)]
    new = text_in(given, "new_string") or text_in(given, "content") or text_in(given, "new_source")
    return [{"old_string": text_in(given, "old_string"), "new_string": new}]


def _one_edit(given: Payload) -> tuple[Payload, bool]:
    """Join several edits of a file into one, so that a program that checks the new text gets all of it."""
    if not isinstance(given.get("edits"), list):
        return given, False
    edits = edits_of(given)
    joined = {key: "\n".join(edit[key] for edit in edits) for key in ("old_string", "new_string")}
    return {**{key: value for key, value in given.items() if key != "edits"}, **joined}, True


def plain_text(value: Any) -> str:
    """Return a tool's response as text."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(filter(None, map(plain_text, value)))
    if not isinstance(value, dict):
        return "" if value is None else str(value)
    if "stdout" in value or "stderr" in value:
        return "\n".join(filter(None, (plain_text(value.get(key)).rstrip("\n") for key in ("stdout", "stderr"))))
    return next((plain_text(value[key]) for key in _TEXTS if value.get(key) is not None), "")


_CLIENTS_TEXTS = ("llmContent", "textResultForLlm", "text_result_for_llm", "output_for_prompt")
_TEXTS = (*_CLIENTS_TEXTS, "output", "text", "content", "file", "result")


def result_text(event: Event) -> str:
    """Return the tool's response, or why it failed, as text."""
    return plain_text(event.tool_response) or plain_text(event.payload.get("error"))


def parse_object(text: str) -> Payload | None:
    """Return the JSON object that a program printed; None if it printed text. Raises PayloadError."""
    text = text.removeprefix("\ufeff").strip()
    return read_object(text.encode("utf-8", "replace")) if text.startswith("{") else None


def crash_outcome(said: ProgramOutput) -> Outcome:
    """Return the outcome of a program that ended with an error."""
    first = next(iter(said.stderr.strip().splitlines()), "")
    how = "a signal" if said.exit_code is None else f"exit code {said.exit_code}"
    return Outcome(failure=Failure("crash", f"{how}: {first[:300]}" if first else how))


def refusal_of(said: ProgramOutput, keys: Sequence[str] = (), *, stdout_first: bool = False) -> Deny:
    """Return the refusal of a program: with the text under one of these keys, else with what it printed."""
    try:
        answer = parse_object(said.stdout) or {}
    except PayloadError:
        answer = {}
    printed = (said.stdout, said.stderr) if stdout_first else (said.stderr, said.stdout)
    words = (*(text_in(answer, key) for key in keys), *printed)
    return Deny(next(filter(None, map(str.strip, words)), "the hook refused without giving a reason"))


def now_text() -> str:
    """Return the time as clients write it into payloads."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
