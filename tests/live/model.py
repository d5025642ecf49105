"""A scripted model on loopback that a coding agent takes for the real one."""

import json
import threading
from collections.abc import Callable, Sequence
from typing import Any

from tests.live.wires import Said, answer
from tests.loopback import Answer, Sent, Server

LAST = Said("That is all.")
Script = Callable[[dict[str, Any]], Said]


class LiveModel(Server):
    """Says its turns in order to a client that offers tools; titles, summaries and the like get a word."""

    def __init__(self) -> None:
        self._turns: list[Said] = []
        self._chosen: Script | None = None
        self._said = 0
        self._turn_lock = threading.Lock()
        super().__init__(self._spoken)

    def begin(self, turns: Sequence[Said] = (), script: Script | None = None) -> None:
        """A new conversation, by turns or by what the model is given; what was said before is forgotten."""
        self._turns, self._chosen = list(turns), script
        self.sent.clear()

    @property
    def shown(self) -> str:
        """Everything that this model was given."""
        return "\n".join(sent.body.decode("utf-8", "replace") for sent in self.sent)

    @property
    def left(self) -> int:
        """How many turns it did not come to."""
        return len(self._turns)

    def _spoken(self, sent: Sent) -> Answer:
        asked = _read(sent.body)
        with self._turn_lock:
            self._said += 1
            said = self._next(asked) if sent.method == "POST" else LAST
            return answer(sent.path.partition("?")[0], asked, said, self._said)

    def _next(self, asked: dict[str, Any]) -> Said:
        if not asked.get("tools"):
            return Said("ok")
        if self._chosen:
            return self._chosen(asked)
        return self._turns.pop(0) if self._turns else LAST


def _read(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body or b"{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
