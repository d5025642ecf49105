"""
Decides each delivery once. Clients retry, and some read the same hook from two files; the second call gets the reply of
the first and leaves no second record. A deferred call comes back on purpose and is decided again.
"""

import hashlib
from collections import OrderedDict

import msgspec
from msgspec.structs import replace

from snell.model.decision import Decision
from snell.model.effects import Verdict
from snell.model.events import Event

KEPT = 1024
PAIRS = 256
TOGETHER = 60.0  # seconds within which a client runs the same hook from its second file
MOST_BYTES = 32 * 1024 * 1024  # of payloads; a thousand large ones would fill the memory

_encoder = msgspec.json.Encoder(order="deterministic")


class Twin(msgspec.Struct):
    """An event without an id or a time, and the hook files that it came from so far."""

    request_id: str
    at: float
    sources: set[str]


class TwinFilter:
    """
    Recognise repeated deliveries of events that carry no id or time, such as a prompt or a stop.

    If two hook files name Snell, the client sends the event once per file: the same payload from another file is a
    repetition, from the same file it is a new event. The generic client has no hook files, so its events all differ.
    """

    def __init__(self) -> None:
        self._known: OrderedDict[str, Twin] = OrderedDict()

    def request_of(self, event: Event, source: str, request_id: str, now: float) -> str:
        """Return the id of the first of two calls that are the same delivery."""
        if event.client == "generic" or event.tool_use_id or event.payload.get("timestamp"):
            return request_id
        key, _ = delivery_key(event, "one of two")
        known = self._known.get(key)
        if known and source not in known.sources and now - known.at < TOGETHER:
            known.sources.add(source)
            return known.request_id
        self._known[key] = Twin(request_id, now, {source})
        self._known.move_to_end(key)
        while len(self._known) > PAIRS:
            self._known.popitem(last=False)
        return request_id


def delivery_key(event: Event, request_id: str = "") -> tuple[str, int]:
    """
    Return a key that two calls of the same delivery share, empty when there is none, and its size in bytes.

    Some clients send no id with a call, but the millisecond of the event, which is the same for all hooks of it.
    """
    identity = event.tool_use_id or event.payload.get("timestamp") or request_id
    if not identity:
        return "", 0
    try:
        body = _encoder.encode([event.client, event.session_id, event.name, identity, event.payload])
    except (TypeError, ValueError, OverflowError, RecursionError):  # tools of an embedding program may return anything
        return "", 0
    return hashlib.blake2b(body, digest_size=32).hexdigest(), len(body)


class DecisionCache:
    """
    The last decisions, by delivery.

    A daemon needs only what is encoded for a client. Without `keeps_rounds` the runs of hooks are left out, so that a
    thousand decisions do not keep the hooks of earlier settings in memory.
    """

    def __init__(self, *, keeps_rounds: bool = True) -> None:
        self._keeps_rounds = keeps_rounds
        self._known: OrderedDict[str, tuple[Decision, int]] = OrderedDict()
        self._bytes = 0

    def get(self, key: str) -> Decision | None:
        known = self._known.get(key) if key else None
        return known[0] if known else None

    def keep(self, key: str, decision: Decision, size: int = 0) -> None:
        """
        Add a decision; a rewritten call also under its new input, because a client that runs hook after hook gives the
        second one the result of the first.
        """
        if not self._keeps_rounds:
            decision = replace(decision, rounds=())
        self._keep(key, decision, size)
        if decision.changes and decision.verdict is not Verdict.DENY:
            changed, its_size = delivery_key(decision.event)
            self._keep(changed, decision, its_size)

    def _keep(self, key: str, decision: Decision, size: int) -> None:
        if not key or decision.verdict is Verdict.DEFER:
            return
        self._bytes += size - self._known.pop(key, (None, 0))[1]
        self._known[key] = (decision, size)
        while len(self._known) > KEPT or self._bytes > MOST_BYTES:
            self._bytes -= self._known.popitem(last=False)[1][1]
