"""
A decision, put into a client's words by its table.

What a client cannot express is said by the nearest stricter thing: an ask becomes a refusal that says what to do, a
rewrite becomes a refusal that shows the call as it should be, a refusal after the fact becomes a note. What nothing
can express goes to stderr, so that it is in the client's log at least.
"""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from snell.clients.protocol.decode import texts_in
from snell.clients.protocol.messages import (
    cannot_ask,
    cannot_change,
    cannot_deliver_note,
    changed_by,
    not_delivered,
    other_prompt,
    reason_of,
    stop_reason,
    to_text,
)
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


def encode(table: ClientTable, decision: Decision) -> Reply:
    """What the client is to be told."""
    event = decision.event
    answers = _answers(table, _own_name(event), event.name)
    says = decision.verdict or decision.notes or decision.tells or decision.stop or decision.changes or decision.env
    if answers is None or not says:
        return _reply(table, answers, [], {}, "")
    return _Speech(table, answers, decision).reply()


def cannot_answer(table: ClientTable, event: str, text: str, *, blocks: bool) -> Reply:
    """What the client gets when there is no decision: no opinion, or a refusal where a guard must not be missed."""
    name = table.events.get(event) or canonical(event)
    name = table.refine(event, {}) if table.refine and name not in table.answers else name
    answers = _answers(table, event, name)
    cannot = answers is not None and not answers.deny  # and the words of another event would mean nothing there
    if name in NEVER_BLOCKED_BY_FAILURE or not blocks or cannot:
        return _reply(table, answers, [], {}, text)
    own = event if answers else next((each for each in table.answers if table.answers[each].deny), "")
    deny = table.answers.get(own, NO_ANSWERS).deny or (answers and answers.deny)
    return _reply(table, answers, [deny] if deny else [], {Slot.REASON: text, Slot.EVENT: own}, text)


class _Speech(Struct):
    """One decision on its way into words."""

    table: ClientTable
    answers: Answers
    decision: Decision

    def reply(self) -> Reply:
        answers, decision = self.answers, self.decision
        note, tell = decision.note if "note" in decision.event.row.can else "", decision.tell
        refusal = self._refusal()
        forms: list[Form | None] = []
        left: list[str] = []
        if refusal and answers.deny:
            # The reason reaches the model for certain; beside a refusal a note may not.
            refusal, note = "\n".join(text for text in (refusal, note) if text), ""
            forms.append(answers.deny)
        elif refusal:
            note = "\n".join(text for text in (cannot_deliver_note(decision.event.name, refusal), note) if text)
        else:
            note = "\n".join(text for text in (self._reworded(), note) if text)
            forms += [answers.rewrite if self._rewrites else None, self._verdict_form()]
        if note:
            forms.append(answers.note)
            left += [] if answers.note else [note]
        if tell:
            forms.append(answers.tell)
            left += [] if answers.tell else [tell]
        forms += [answers.stop if self._stop else None, answers.env if decision.env else None]
        left += self._lost()
        filling = self._filling(refusal, note, tell)
        stderr = "\n".join(not_delivered(self.table.title, decision.event.name, text) for text in left)
        return _reply(self.table, answers, [form for form in forms if form], filling, stderr)

    def _refusal(self) -> str:
        """Why it is refused; empty when it is not."""
        decision, can = self.decision, self.decision.event.row.can
        if self._stop and decision.event.name in TURN_ENDS:
            return ""  # to refuse this end would be to go on
        if "deny" in can and decision.verdict is Verdict.DENY:
            return reason_of(decision)
        if "deny" in can and decision.verdict in (Verdict.ASK, Verdict.DEFER) and not self._can_ask:
            return cannot_ask(decision, self.table.title, self.table.asks_when if self.answers.ask else "")
        if self._stop and not self.answers.stop and decision.event.name not in TURN_ENDS:
            return self._stop
        if self._is_changed and not self._rewrites:
            return self._instead_of_rewriting()
        return ""

    def _instead_of_rewriting(self) -> str:
        event, before = self.decision.event, self.decision.changes[0].before
        match event.row.rewrites:
            case "tool_input":
                after = native_input(self.table, event.tool_name, event.rewritable, before)
                return cannot_change(self.decision, self.table.title, after)
            case "tool_response" if self.answers.deny_replaces:
                return self._output() or "(no output)"
            case "prompt" if not self.answers.note:
                return cannot_change(self.decision, self.table.title, event.rewritable)
        return ""

    def _lost(self) -> list[str]:
        """What no form says, and nothing stricter either: the tool has run, and its output goes out as it is."""
        field, lost = self.decision.event.row.rewrites, []
        is_said = self._rewrites or self.answers.deny_replaces or field not in ("tool_response", "delta")
        if self._is_changed and not is_said:
            lost.append(f"{changed_by(self.decision)} would change `{field}`, which stays as it is")
        if self.decision.env and not self.answers.env:
            lost.append(f"these variables are not set: {', '.join(self.decision.env)}")
        return lost

    def _reworded(self) -> str:
        is_prompt = self._is_changed and self.decision.event.row.rewrites == "prompt"
        return other_prompt(self.decision, self.decision.event.rewritable) if is_prompt else ""

    def _verdict_form(self) -> Form | None:
        match self.decision.verdict:
            case Verdict.ALLOW:
                return self.answers.allow
            case Verdict.ASK:
                return self.answers.ask
        return None

    @property
    def _can_ask(self) -> bool:
        """In a mode that asks nobody, a client runs what it should ask about."""
        if self.decision.verdict is not Verdict.ASK or "ask" not in self.decision.event.row.can:
            return False
        if self.decision.event.name == "PermissionRequest":
            return True  # to ask is to leave the dialog to the person it is shown to
        return self.answers.ask is not None and not self._is_free and reaches_person(self.table, self.decision.sender)

    @property
    def _is_free(self) -> bool:
        return text_in(self.decision.event.payload, "permission_mode") in self.table.free_modes

    @property
    def _stop(self) -> str:
        return stop_reason(self.decision) if "stop" in self.decision.event.row.can else ""

    @property
    def _is_changed(self) -> bool:
        return self.decision.is_rewritten and self.decision.verdict < Verdict.DEFER

    @property
    def _rewrites(self) -> bool:
        """Does a form say this rewrite, and say all of it?"""
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

    def _filling(self, refusal: str, note: str, tell: str) -> dict[Slot, Any]:
        decision, event = self.decision, self.decision.event
        limit = self.table.longest_note
        filling: dict[Slot, Any] = {
            Slot.EVENT: _own_name(event),
            Slot.REASON: refusal or decision.reason,
            Slot.NOTE: note if not limit or len(note) <= limit else f"{note[: limit - 6]} (cut)",
            Slot.TELL: tell,
            Slot.STOP: self._stop,
            Slot.ENV: decision.env,
        }
        if self._rewrites and event.row.rewrites == "tool_input":
            before = decision.changes[0].before
            filling[Slot.INPUT] = native_input(self.table, event.tool_name, event.rewritable, before)
        elif self._rewrites:
            filling[Slot.OUTPUT] = self._output()
        return filling

    def _output(self) -> str:
        """The output as text: what the model would read of it."""
        value = self.decision.event.rewritable
        if not isinstance(value, dict):
            return to_text(value)
        inner = next((value[key] for key in self.table.response_text if key in value), None)
        if isinstance(inner, list):
            return "\n".join(texts_in(inner))
        return inner if isinstance(inner, str) else to_text(value)


def _answers(table: ClientTable, own_name: str, name: str) -> Answers | None:
    return table.answers.get(own_name) or table.answers.get(name)


def _own_name(event: Event) -> str:
    """The client's name of this event."""
    native = event.payload.get("native")
    name = native.get("event") if isinstance(native, dict) else ""
    return name if isinstance(name, str) and name else event.name


def _reply(
    table: ClientTable, answers: Answers | None, forms: list[Form], filling: Mapping[Slot, Any], stderr: str
) -> Reply:
    """All forms in one reply. An exit code that refuses needs its reason on stderr and nothing on stdout."""
    neutral = answers.neutral if answers and answers.neutral != Form() else table.neutral
    code = max((form.exit_code for form in forms), default=0)
    if code:  # the model reads what stands on stderr then, so the reason stands there alone
        reasons = "\n".join(str(filling.get(form.stderr, "")) for form in forms if form.stderr)
        return Reply(stderr=reasons.encode("utf-8", "replace"), exit_code=code)
    shapes = [form.json for form in forms if form.json is not None]
    texts = [str(filling.get(form.text, "")) for form in forms if form.text]
    if not shapes and not texts and neutral.json is not None:
        shapes = [neutral.json]
    stdout = json_bytes(_merged([_filled(shape, filling) for shape in shapes])) if shapes else b""
    text = "\n".join(texts).encode("utf-8", "replace")
    return Reply(stdout=stdout or text, stderr=stderr.encode("utf-8", "replace"))


def _filled(shape: Any, filling: Mapping[Slot, Any]) -> Any:
    if isinstance(shape, Slot):
        return filling.get(shape, "")
    if isinstance(shape, Mapping):
        filled = {key: _filled(value, filling) for key, value in shape.items()}
        return {key: value for key, value in filled.items() if value != ""}
    return [_filled(value, filling) for value in shape] if isinstance(shape, list) else shape


def _merged(parts: list[dict[str, Any]]) -> dict[str, Any]:
    whole: dict[str, Any] = {}
    for part in parts:
        for key, value in part.items():
            inner = whole.get(key)
            whole[key] = _merged([inner, value]) if isinstance(inner, dict) and isinstance(value, dict) else value
    return whole
