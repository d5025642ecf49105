"""
Emulate Copilot CLI 1.0.102.

An event name in camelCase gives Copilot's own fields and tools; in PascalCase it gives Claude's, with Copilot's keys
inside the input. VS Code reads files of the second kind, too, and exit code 2 blocks there.
"""

import os
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from snell.clients.emulation.base import Emulation, crash_outcome, now_text, result_text
from snell.clients.protocol.client_file import read_client
from snell.model.catalogue import canonical
from snell.model.decision import Outcome
from snell.model.effects import Deny
from snell.model.events import Event, Payload, as_table, text_in
from snell.model.hooks import Hook
from snell.model.protocols import ProgramOutput
from snell.system.wall_clock import now_ms

_SOURCES = {"startup": "new"}
# A field of PascalCase events -> the same field of camelCase events, which do not name themselves.
_CAMEL: Mapping[str, str] = {
    "session_id": "sessionId",
    "transcript_path": "transcriptPath",
    "tool_name": "toolName",
    "tool_input": "toolArgs",
    "tool_result": "toolResult",
    "stop_reason": "stopReason",
    "initial_prompt": "initialPrompt",
    "agent_type": "agentName",
    "hook_event_name": "",
}


class Copilot(Emulation):
    table = read_client("copilot").table
    also: Mapping[str, str] = {"MultiEdit": "edit"}

    @property
    def is_camel(self) -> bool:
        return self.native[:1].islower()

    def own_name(self, ours: str) -> str:
        names = [name for name, tool in self.table.tools.items() if tool.name == ours and name[0].islower()]
        return next(iter(names), "") if self.is_camel else ours

    def payloads_for(self, event: Event, project: str) -> Sequence[Payload]:
        if self.is_unreported(event):
            return []
        if event.name == "PermissionRequest":
            return [self._permission(event)]
        if event.name == "SubagentStart":
            kind = text_in(event.payload, "agent_type")
            named = {"sessionId": event.session_id, "timestamp": now_ms(), "cwd": event.cwd, "agentName": kind}
            agent = {"agent_id": event.agent_id, "agent_type": kind, "parent_agent_id": event.session_id}
            return [{**named, **agent, "transcriptPath": event.transcript_path}]
        now = now_ms() if self.is_camel else now_text()
        given: Payload = {"session_id": event.session_id, "timestamp": now, "cwd": event.cwd}
        given |= {"hook_event_name": canonical(self.native)} | self._about(event)
        if not self.is_camel:
            return [given]
        return [{_CAMEL.get(key, key): value for key, value in given.items() if _CAMEL.get(key, key)}]

    def _about(self, event: Event) -> Payload:
        payload = event.payload
        if event.tool:
            return self._tool(event)
        if event.name == "SessionStart":
            source = text_in(payload, "source")
            prompt = text_in(payload, "initial_prompt")
            return {"source": _SOURCES.get(source, source), **({"initial_prompt": prompt} if prompt else {})}
        about: Payload = {key: payload[key] for key in _FIELDS.get(event.name, ()) if key in payload}
        if event.name in ("Stop", "SubagentStop"):
            about |= {"stop_reason": "end_turn", "stop_hook_active": event.is_continuation}
        if event.name == "SubagentStop":
            about |= {"agent_name": text_in(payload, "agent_type"), "parent_agent_id": event.session_id}
        if event.name in ("Stop", "SubagentStop", "PreCompact"):
            about["transcript_path"] = event.transcript_path
        return about

    def _tool(self, event: Event) -> Payload:
        call = self.call(event)
        about: Payload = {"tool_name": call.name, "tool_input": call.input}
        is_done = self.native.lower() == "posttooluse"
        if is_done:
            kind, text = ("resultType", "textResultForLlm") if self.is_camel else ("result_type", "text_result_for_llm")
            about["tool_result"] = {kind: "success", text: result_text(event)}
        elif event.name == "PostToolUseFailure":
            about["error"] = result_text(event)
        return about

    def _permission(self, event: Event) -> Payload:
        """Return the payload of a permission request, which is in camelCase for both spellings of its name."""
        call = Copilot("permissionRequest").call(event)
        named = {"hookName": "permissionRequest", "sessionId": event.session_id, "timestamp": now_ms()}
        tool = {"toolName": call.name, "toolInput": event.tool_input, "permissionSuggestions": []}
        return {**named, "cwd": event.cwd, **tool}

    def pattern(self, matcher: str) -> str:
        return f"^(?:{matcher})$"

    def variables(self, event: Event, project: str) -> dict[str, str]:
        return {"COPILOT_PROJECT_DIR": project or event.cwd}

    def folder(self, hook: Hook) -> str:
        """Return the project's root for its hooks: two folders above `.github/hooks` or `.github/copilot`."""
        is_projects = hook.source.layer == "copilot:project"
        return os.path.dirname(os.path.dirname(os.path.dirname(hook.source.file))) if is_projects else ""

    def answer(self, event: Event, given: Payload, said: ProgramOutput) -> Outcome:
        if said.exit_code != 0:
            outcome = crash_outcome(said)
            if event.name == "PreToolUse" or (said.exit_code == 2 and not self.is_camel):
                why = said.stderr.strip() or "the hook refused without giving a reason"
                return replace(outcome, effects=(Deny(why),), failure=None if said.exit_code == 2 else outcome.failure)
            return outcome
        remarks = (f"printed text, which {self.title} does not read",) if said.stdout.strip() else ()
        return self.outcome_of_text(event, said.stdout, Outcome(remarks=remarks))

    def in_claude_form(self, event: Event, answer: Payload) -> Payload:
        inner = as_table(answer.get("hookSpecificOutput"))
        result = answer.get("modifiedResult")
        ours = {key: value for key, value in answer.items() if key not in ("modifiedArgs", "modifiedResult")}
        if isinstance(result, dict):
            ours["updatedToolOutput"] = text_in(result, "textResultForLlm") or text_in(result, "text_result_for_llm")
        changed = answer.get("modifiedArgs", inner.get("updatedInput"))
        if changed is None:
            return ours
        if inner:
            kept = {key: value for key, value in inner.items() if key != "updatedInput"}
            ours["hookSpecificOutput"] = {**kept, "hookEventName": event.name}
        new = self.claude_input(event, changed, is_complete=True)
        return ours | (self.refuse_change() if new is None else {"updatedInput": new})


_FIELDS: Mapping[str, tuple[str, ...]] = {
    "UserPromptSubmit": ("prompt",),
    "SessionEnd": ("reason",),
    "PreCompact": ("trigger",),
    "Notification": ("message", "title", "notification_type"),
    "StopFailure": ("error",),
    "SubagentStop": ("agent_id", "agent_type", "last_assistant_message"),
}

EMULATION = Copilot
