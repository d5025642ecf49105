"""Progress: what somebody who waits for a decision gets to see meanwhile."""

from typing import Literal

from msgspec import Struct

from snell.model.decision import Decision, Outcome

Stage = Literal["started", "running", "completed", "decided"]


class Progress(Struct, frozen=True):
    stage: Stage
    hook: str = ""
    status_message: str = ""
    outcome: Outcome | None = None  # of a completed hook
    decision: Decision | None = None  # of the last one
