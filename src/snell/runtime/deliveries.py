"""
One delivery is decided once. Clients retry, and some read the same hook from two files; the second call gets the
first one's answer and leaves no second record. A deferred call comes back on purpose and is decided anew.
"""

import hashlib
from collections import OrderedDict

import msgspec

from snell.model.decision import Decision
from snell.model.effects import Verdict
from snell.model.events import Event

KEPT = 1024

_encoder = msgspec.json.Encoder(order="deterministic")


def delivery_key(event: Event, request_id: str = "") -> str:
    """What makes two calls the same delivery; empty when nothing can tell."""
    identity = event.tool_use_id or request_id
    if not identity:
        return ""
    body = _encoder.encode([event.client, event.session_id, event.name, identity, event.payload])
    return hashlib.sha256(body).hexdigest()


class Deliveries:
    """The last decisions, by delivery."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, Decision] = OrderedDict()

    def earlier(self, key: str) -> Decision | None:
        return self._known.get(key) if key else None

    def keep(self, key: str, decision: Decision) -> None:
        if not key or decision.verdict is Verdict.DEFER:
            return
        self._known[key] = decision
        while len(self._known) > KEPT:
            self._known.popitem(last=False)
