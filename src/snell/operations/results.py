"""The results of operations, from which the schemas of structured output are made."""

from typing import Any

from msgspec import Struct, defstruct

from snell.memory.consolidation import MergedGroup
from snell.memory.map_paths import Stop
from snell.memory.types import Memory, StoreResult


class Answer(Struct, kw_only=True, frozen=True):
    notices: list[str] = []  # about captures since the last answer


class Remembered(StoreResult, frozen=True, kw_only=True):
    notices: tuple[str, ...] = ()


class Outcome(Struct, kw_only=True, frozen=True):
    """The outcome for one memory in a batch."""

    status: str
    id: str = ""
    content: str = ""
    error: str = ""


class RecalledMemory(Memory, frozen=True, kw_only=True):
    similarity: float = 0.0
    by: str = ""


class Waypoint(Stop, frozen=True):
    content: str = ""
    namespace: str = ""


class ShownRegion(Struct, frozen=True, kw_only=True):
    keywords: list[str]
    size: int
    coherence: float
    typical: str = ""
    members: list[str]


def _answer(name: str, **fields: Any) -> type[Struct]:
    """Return the type of an answer with these fields: a type each, or a type and the default."""
    rows = [(each, *kind) if isinstance(kind, tuple) else (each, kind) for each, kind in fields.items()]
    return defstruct(name, rows, bases=(Answer,), module=__name__, frozen=True, kw_only=True)


_TEXT = (str, "")
_ROWS: Any = (list[dict[str, Any]], [])

RememberedBatch = _answer("RememberedBatch", results=list[Outcome], stored=int)
# `remark`: if nothing was found
Recalled = _answer("Recalled", memories=list[RecalledMemory], project=_TEXT, remark=_TEXT)
# `captures`: of the same texts, also deleted. `not_searched`: older captures that may contain them too
Forgotten = _answer("Forgotten", forgotten=list[str], missing=(list[str], []), captures=(int, 0), not_searched=(int, 0))
Healthy = _answer("Healthy", status=str, problems=(list[str], []), details=(dict[str, Any], {}))
PathResult = _answer("PathResult", stops=list[Waypoint], remark=_TEXT)
ShownRegions = _answer("ShownRegions", regions=list[ShownRegion], alone=list[str], remark=_TEXT)
MapResult = _answer("MapResult", format=str, nodes=_ROWS, edges=_ROWS, regions=_ROWS, drawing=_TEXT, remark=_TEXT)
Changed = _answer("Changed", changes=list[dict[str, Any]], changed=(int, 0), dry_run=(bool, False))
Consolidated = _answer("Consolidated", groups=list[MergedGroup], dry_run=bool)
Exported = _answer("Exported", path=str, memories=int)
Imported = _answer("Imported", statuses=dict[str, int], dry_run=bool)
Counted = _answer("Counted", memories=int)
Namespaces = _answer("Namespaces", namespaces=dict[str, int], project=_TEXT)
RenameResult = _answer("RenameResult", moved=int)
_SETUP = {"paths": dict[str, str], "capabilities": dict[str, Any], "hooks": Any, "mcp_config": Any}
SetupResult = _answer("SetupResult", client=str, **_SETUP, instructions=str, how=str)
Explained = _answer("Explained", id=str, verdict=str, explanation=str)
Report = _answer("Report", session_id=str, report=str, decisions=int)
Listed = _answer("Listed", sessions=_ROWS, efforts=_ROWS)


class Decided(Answer, frozen=True, kw_only=True):
    """The decision about an event; more fields depend on the event."""

    event: str
    allow: bool = True  # whether a tool call may run now
    reason: str = ""
    decision: str = ""  # `block` for a refused prompt or stop
    systemMessage: str = ""  # noqa: N815 - the name in the protocol; for the user
    hookSpecificOutput: dict[str, Any] = {}  # noqa: N815 - likewise; `additionalContext` is for the model
    decisionId: str = ""  # noqa: N815 - likewise; `why` explains it
