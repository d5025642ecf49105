"""Emulate Codex CLI 0.166.0: Claude Code's fields, with patches instead of edits."""

from collections.abc import Mapping, Sequence

from snell.clients.emulation.base import Call, Emulation, parse_object, result_text
from snell.clients.emulation.patches import as_patch
from snell.clients.protocol.client_file import read_client
from snell.engine.hook_output import outcome_of_object
from snell.model.decision import Outcome
from snell.model.errors import PayloadError
from snell.model.events import Event, Payload, text_in
from snell.model.protocols import ProgramOutput

_COMMON = ("session_id", "transcript_path", "cwd", "permission_mode", "model", "agent_id", "agent_type")
_FIELDS: Mapping[str, tuple[str, ...]] = {
    "UserPromptSubmit": ("prompt",),
    "SessionStart": ("source",),
    "SessionEnd": ("reason",),
    "PreCompact": ("trigger",),
    "PostCompact": ("trigger",),
    "Stop": ("last_assistant_message",),
    "SubagentStop": ("last_assistant_message", "agent_transcript_path"),
}


class Codex(Emulation):
    table = read_client("codex").table
    matcher_type = None  # a list of names or a pattern, as in Claude Code

    def payloads_for(self, event: Event, project: str) -> Sequence[Payload]:
        if self.is_unreported(event):
            return []
        payload = event.payload
        turn = (text_in(payload, key) for key in ("turn_id", "prompt_id", "generation_id"))
        given: Payload = {key: payload[key] for key in _COMMON if key in payload}
        given |= {"hook_event_name": self.native, "turn_id": next(filter(None, turn), event.session_id)}
        given |= {"model": text_in(payload, "model"), "transcript_path": event.transcript_path or None}
        given |= {key: payload.get(key, "") for key in _FIELDS.get(self.native, ())}
        if self.native in ("Stop", "SubagentStop"):
            given["stop_hook_active"] = event.is_continuation
        if event.tool:
            call = self.call(event)
            given |= {"tool_name": call.name, "tool_input": call.input, "tool_use_id": event.tool_use_id}
            given |= {"tool_response": result_text(event)} if self.native == "PostToolUse" else {}
        return [given]

    def call(self, event: Event) -> Call:
        """Return the call; Codex reports its shell as `Bash`, and every change of a file as a patch."""
        if event.kind in ("edit", "write"):
            return Call("apply_patch", {"command": as_patch(event)}, is_composed=True)
        call = super().call(event)
        return Call("Bash", {"command": event.command}) if event.kind == "shell" else call

    def match_values(self, event: Event, given: Payload) -> Sequence[str]:
        also = {"apply_patch": ("Edit", "Write"), "spawn_agent": ("Agent",)}
        return (*super().match_values(event, given), *also.get(text_in(given, "tool_name"), ()))

    def answer(self, event: Event, given: Payload, said: ProgramOutput) -> Outcome | None:
        """Translate a changed input; None leaves any other answer to Claude Code's rules."""
        try:
            answer = parse_object(said.stdout) or {}
        except PayloadError:
            return None
        inner = answer.get("hookSpecificOutput")
        if not isinstance(inner, dict) or inner.get("updatedInput") is None or said.exit_code != 0:
            return None
        changed = self.claude_input(event, inner["updatedInput"], is_complete=event.kind != "shell")
        if changed is None:
            return outcome_of_object(self.refuse_change(), event)
        return outcome_of_object({**answer, "hookSpecificOutput": {**inner, "updatedInput": changed}}, event)


EMULATION = Codex
