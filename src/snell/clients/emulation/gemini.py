"""Emulate Gemini CLI 0.61.0."""

from collections.abc import Mapping, Sequence

from snell.clients.emulation.base import Emulation, crash_outcome, now_text, plain_text, refusal_of, result_text
from snell.clients.protocol.client_file import read_client
from snell.model.catalogue import NEVER_BLOCKED_BY_FAILURE
from snell.model.decision import Outcome
from snell.model.effects import Tell
from snell.model.events import Event, Payload, text_in
from snell.model.protocols import ProgramOutput
from snell.model.tools import mcp_parts

_TOOL_EVENTS = ("BeforeTool", "AfterTool")
_FIELDS: Mapping[str, tuple[str, ...]] = {
    "BeforeAgent": ("prompt",),
    "AfterAgent": ("prompt",),
    "SessionStart": ("source",),
    "SessionEnd": ("reason",),
    "PreCompress": ("trigger",),
    "Notification": ("notification_type", "message"),
}
# The last two are Claude's: a program that answers with them means them.
_READ = ("additionalContext", "permissionDecision", "permissionDecisionReason")


class Gemini(Emulation):
    table = read_client("gemini").table
    also: Mapping[str, str] = {"MultiEdit": "replace", "NotebookEdit": "replace"}

    def payloads_for(self, event: Event, project: str) -> Sequence[Payload]:
        common: Payload = {
            "session_id": event.session_id,
            "transcript_path": event.transcript_path,
            "cwd": event.cwd,
            "hook_event_name": self.native,
            "timestamp": now_text(),
        }
        for field in _FIELDS.get(self.native, ()):
            common[field] = event.payload.get(field, "")
        if self.native == "AfterAgent":
            response = text_in(event.payload, "last_assistant_message")
            common |= {"prompt_response": response, "stop_hook_active": event.is_continuation}
        if self.native in _TOOL_EVENTS:
            call, (server, method) = self.call(event), mcp_parts(event.tool)
            common |= {"tool_name": call.name, "tool_input": call.input}
            common |= {"mcp_context": {"server_name": server, "tool_name": method}} if method else {}
            common |= {"tool_response": _response(event)} if self.native == "AfterTool" else {}
        return [common]

    def is_wanted(self, matcher: str, event: Event, given: Payload) -> bool:
        if self.native in _TOOL_EVENTS:
            return super().is_wanted(matcher, event, given)
        names = self.match_values(event, given)
        return matcher in ("", "*") or not names or matcher in names

    def variables(self, event: Event, project: str) -> dict[str, str]:
        return {
            "GEMINI_PROJECT_DIR": project or event.cwd,
            "GEMINI_CWD": event.cwd,
            "GEMINI_SESSION_ID": event.session_id,
        }

    def answer(self, event: Event, given: Payload, said: ProgramOutput) -> Outcome:
        if said.exit_code == 2 or self._blocks_by_code(event, said):
            return Outcome((refusal_of(said, ("reason",)),))
        if said.exit_code != 0:
            return crash_outcome(said)
        shown = said.stdout.strip()
        return self.outcome_of_text(event, said.stdout, Outcome((Tell(shown),)) if shown else Outcome())

    def _blocks_by_code(self, event: Event, said: ProgramOutput) -> bool:
        """Return whether the exit code blocks: 3 or more with text on stderr, but never at the end of a turn."""
        is_high = said.exit_code is not None and said.exit_code > 2
        return is_high and bool(said.stderr.strip()) and event.name not in NEVER_BLOCKED_BY_FAILURE

    def in_claude_form(self, event: Event, answer: Payload) -> Payload:
        inner = answer.get("hookSpecificOutput")
        if not isinstance(inner, dict):
            return answer
        outer = {key: value for key, value in answer.items() if key != "hookSpecificOutput"}
        outer |= {key: inner[key] for key in _READ if inner.get(key) is not None}
        if inner.get("tool_input") is not None:
            changed = self.claude_input(event, inner["tool_input"], is_complete=False)
            outer |= self.refuse_change() if changed is None else {"updatedInput": changed}
        return outer


def _response(event: Event) -> Payload:
    found = event.tool_response
    if isinstance(found, dict) and "llmContent" in found:
        return found
    text = result_text(event)
    error = plain_text(event.payload.get("error")) if event.name == "PostToolUseFailure" else ""
    return {"llmContent": text, "returnDisplay": text, **({"error": {"message": error}} if error else {})}


EMULATION = Gemini
