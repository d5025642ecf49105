"""
Encode a decision as a client's reply, by the client's table.

What a client cannot express becomes the nearest stricter answer: an ask becomes a refusal that says what to do, a
rewrite becomes a refusal that shows the changed call, a refusal after a tool has run becomes a note. What has no form
at all is written to stderr, so that it is at least in the client's log.
"""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from snell.clients.protocol import messages
from snell.clients.protocol.decode import refine_event, texts_in
from snell.clients.protocol.person_present import reaches_person
from snell.clients.protocol.table import Answers, ClientTable, Form, Slot
from snell.clients.protocol.tool_inputs import native_input, takes_change
from snell.model.catalogue import NEVER_BLOCKED_BY_FAILURE, TURN_ENDS, canonical
from snell.model.decision import Decision
from snell.model.effects import Verdict
from snell.model.events import Event, text_in
from snell.model.protocols import Reply
from snell.system.json_output import json_bytes

NO_ANSWERS = Answers()


def encode_decision(table: ClientTable, decision: Decision) -> Reply:
    """Return the client's reply for a decision."""
    event = decision.event
    answers = _answers(table, _own_name(event), event.name)
    has_effect = decision.verdict or decision.notes or decision.tells or decision.stop or decision.changes
    if answers is None or not (has_effect or decision.env):
        return _reply(table, answers, [], {}, "")
    return _ReplyBuilder(table, answers, decision).reply()


def encode_error(table: ClientTable, event: str, text: str, *, blocks: bool) -> Reply:
    """Return the reply without a decision: no opinion, or a refusal if `blocks`."""
    name = table.events.get(event) or canonical(event)
    name = refine_event(table, event, {}) if table.refine and name not in table.answers else name
    answers = _answers(table, event, name)
    cannot_deny = answers is not None and not answers.deny  # the form of another event would have no effect
    if name in NEVER_BLOCKED_BY_FAILURE or not blocks or cannot_deny:
        return _reply(table, answers, [], {}, text)
    own = event if answers else "PreToolUse"  # an event that the table does not know is refused like a tool call
    deny = table.answers.get(own, NO_ANSWERS).deny or (answers and answers.deny)
    return _reply(table, answers, [deny] if deny else [], {Slot.REASON: text, Slot.EVENT: own}, text)


def _join(*texts: str) -> str:
    return "\n".join(filter(None, texts))


class _ReplyBuilder(Struct):
    table: ClientTable
    answers: Answers
    decision: Decision

    def reply(self) -> Reply:
        answers, decision = self.answers, self.decision
        note, tell = decision.note if "note" in decision.event.row.can else "", decision.tell
        refusal = self._refusal()
        forms: list[Form | None] = []
        undelivered: list[str] = []
        if refusal and answers.deny:
            # The model always gets the reason of a refusal, but not always a note beside it.
            refusal, note = _join(refusal, note), ""
            forms.append(answers.deny)
        elif refusal:
            note = _join(messages.cannot_deliver_note(decision.event.name, refusal), note)
        else:
            note = _join(self._new_prompt(), note)
            forms += [answers.rewrite if self._rewrites else None, self._verdict_form()]
        for text, form in ((note, answers.note), (tell, answers.tell)):
            forms += [form] if text else []
            undelivered += [text] if text and not form else []
        forms += [answers.stop if self._stop else None, answers.env if decision.env else None]
        undelivered += self._inexpressible()
        values = self._slot_values(refusal, note, tell)
        stderr = "\n".join(messages.not_delivered(self.table.title, decision.event.name, text) for text in undelivered)
        return _reply(self.table, answers, [form for form in forms if form], values, stderr)

    def _refusal(self) -> str:
        """Return the reason of the refusal; empty if the event is not refused."""
        decision, can = self.decision, self.decision.event.row.can
        if self._stop and decision.event.name in TURN_ENDS:
            return ""  # a refused turn end would continue the turn
        if "deny" in can and decision.verdict is Verdict.DENY:
            return messages.reason_of(decision)
        if "deny" in can and decision.verdict in (Verdict.ASK, Verdict.DEFER) and not self._can_ask:
            return messages.cannot_ask(decision, self.table.title, self.table.asks_when if self.answers.ask else "")
        if self._stop and not self.answers.stop and decision.event.name not in TURN_ENDS:
            return self._stop
        if self._is_changed and not self._rewrites:
            return self._refusal_for_rewrite()
        return ""

    def _refusal_for_rewrite(self) -> str:
        event, before = self.decision.event, self.decision.changes[0].before
        match event.row.rewrites:
            case "tool_input":
                after = native_input(self.table, event.tool_name, event.rewritable, before)
                return messages.cannot_change(self.decision, self.table.title, after)
            case "tool_response" if self.answers.deny_replaces:
                return self._output() or "(no output)"
            case "prompt" if not self.answers.note:
                return messages.cannot_change(self.decision, self.table.title, event.rewritable)
        return ""

    def _inexpressible(self) -> list[str]:
        """Return what has no form and no stricter answer, such as new output of a tool that has run."""
        field, lost = self.decision.event.row.rewrites, []
        is_expressed = self._rewrites or self.answers.deny_replaces or field not in ("tool_response", "delta")
        if self._is_changed and not is_expressed:
            lost.append(f"{messages.changed_by(self.decision)} would change `{field}`, which stays unchanged")
        if self.decision.env and not self.answers.env:
            lost.append(f"these variables are not set: {', '.join(self.decision.env)}")
        return lost

    def _new_prompt(self) -> str:
        is_prompt = self._is_changed and self.decision.event.row.rewrites == "prompt"
        return messages.other_prompt(self.decision, self.decision.event.rewritable) if is_prompt else ""

    def _verdict_form(self) -> Form | None:
        match self.decision.verdict:
            case Verdict.ALLOW:
                return self.answers.allow
            case Verdict.ASK:
                return self.answers.ask
        return None

    @property
    def _can_ask(self) -> bool:
        """Return whether the user sees an ask. In some modes a client runs the call without asking."""
        if self.decision.verdict is not Verdict.ASK or "ask" not in self.decision.event.row.can:
            return False
        if self.decision.event.name == "PermissionRequest":
            return True  # an ask leaves the decision to the dialog, which the user sees
        return self.answers.ask is not None and not self._is_free and reaches_person(self.table, self.decision.sender)

    @property
    def _is_free(self) -> bool:
        return text_in(self.decision.event.payload, "permission_mode") in self.table.free_modes

    @property
    def _stop(self) -> str:
        return messages.stop_reason(self.decision) if "stop" in self.decision.event.row.can else ""

    @property
    def _is_changed(self) -> bool:
        return self.decision.is_rewritten and self.decision.verdict < Verdict.DEFER

    @property
    def _rewrites(self) -> bool:
        """Return whether a form expresses this rewrite completely."""
        decision, table = self.decision, self.table
        if not self._is_changed or not self.answers.rewrite:
            return False
        if decision.event.row.rewrites == "tool_response":
            return True
        value, before = decision.event.rewritable, decision.changes[0].before
        if not isinstance(value, dict):
            return False
        takes_away = isinstance(before, dict) and before.keys() - value.keys()
        if (table.merges_input and takes_away) or not takes_change(table, decision.event.tool_name, before, value):
            return False
        return decision.verdict is Verdict.ALLOW or not table.rewrite_allows or self._is_free

    def _slot_values(self, refusal: str, note: str, tell: str) -> dict[Slot, Any]:
        decision, event = self.decision, self.decision.event
        limit = self.table.longest_note
        values: dict[Slot, Any] = {
            Slot.EVENT: _own_name(event),
            Slot.REASON: refusal or decision.reason,
            Slot.NOTE: note if not limit or len(note) <= limit else f"{note[: limit - 6]} (cut)",
            Slot.TELL: tell,
            Slot.STOP: self._stop,
            Slot.ENV: decision.env,
        }
        if self._rewrites and event.row.rewrites == "tool_input":
            before = decision.changes[0].before
            values[Slot.INPUT] = native_input(self.table, event.tool_name, event.rewritable, before)
        elif self._rewrites:
            values |= {Slot.OUTPUT: self._output(), Slot.RESULT: self._result()}
        return values

    def _result(self) -> Any:
        """Return the tool's result in the form that the client gave it; text takes the place of its text."""
        value, before = self.decision.event.rewritable, self.decision.changes[0].before
        if not isinstance(value, str) or not isinstance(before, dict):
            return value
        key = next((key for key in self.table.response_text if key in before), "")
        return {**before, key: value} if key else value

    def _output(self) -> str:
        """Return the tool's output as the text that the model reads."""
        value = self.decision.event.rewritable
        if not isinstance(value, dict):
            return messages.to_text(value)
        inner = next((value[key] for key in self.table.response_text if key in value), None)
        if isinstance(inner, list):
            return "\n".join(texts_in(inner))
        return inner if isinstance(inner, str) else messages.to_text(value)


def _answers(table: ClientTable, own_name: str, name: str) -> Answers | None:
    return table.answers.get(own_name) or table.answers.get(name)


def _own_name(event: Event) -> str:
    """Return the client's name of this event."""
    native = event.payload.get("native")
    name = native.get("event") if isinstance(native, dict) else ""
    return name if isinstance(name, str) and name else event.name


def _reply(
    table: ClientTable, answers: Answers | None, forms: list[Form], values: Mapping[Slot, Any], stderr: str
) -> Reply:
    """Return one reply from all forms. With an exit code that refuses, stderr has the reason and stdout is empty."""
    neutral = answers.neutral if answers and answers.neutral != Form() else table.neutral
    code = max((form.exit_code for form in forms), default=0)
    if code:  # the model then reads stderr, so it holds the reason only
        reasons = "\n".join(str(values.get(form.stderr, "")) for form in forms if form.stderr)
        return Reply(stderr=reasons.encode("utf-8", "replace"), exit_code=code)
    shapes = [form.json for form in forms if form.json is not None]
    texts = [str(values.get(form.text, "")) for form in forms if form.text]
    if not shapes and not texts and neutral.json is not None:
        shapes = [neutral.json]
    stdout = json_bytes(_merge([_fill(shape, values) for shape in shapes])) if shapes else b""
    text = "\n".join(texts).encode("utf-8", "replace")
    return Reply(stdout=stdout or text, stderr=stderr.encode("utf-8", "replace"))


def _fill(shape: Any, values: Mapping[Slot, Any]) -> Any:
    if isinstance(shape, Slot):
        return values.get(shape, "")
    if isinstance(shape, Mapping):
        filled = {key: _fill(value, values) for key, value in shape.items()}
        return {key: value for key, value in filled.items() if value != ""}
    return [_fill(value, values) for value in shape] if isinstance(shape, list) else shape


def _merge(parts: list[dict[str, Any]]) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for part in parts:
        for key, value in part.items():
            inner = merged.get(key)
            merged[key] = _merge([inner, value]) if isinstance(inner, dict) and isinstance(value, dict) else value
    return merged
