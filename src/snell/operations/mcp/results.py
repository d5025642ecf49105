"""The results of each tool, from which the schemas of its structured output are made."""

from typing import Any

from msgspec import Struct

from snell.memory.consolidation import Joined
from snell.memory.map_paths import Stop
from snell.memory.types import Kept, Memory


class Answer(Struct, kw_only=True, frozen=True):
    notices: list[str] = []  # about captures since the last answer


class Remembered(Kept, frozen=True, kw_only=True):
    notices: tuple[str, ...] = ()


class Outcome(Struct, kw_only=True, frozen=True):
    """The outcome for one memory in a batch."""

    status: str
    id: str = ""
    content: str = ""
    error: str = ""


class RememberedBatch(Answer, frozen=True, kw_only=True):
    results: list[Outcome]
    stored: int


class RecalledMemory(Memory, frozen=True, kw_only=True):
    similarity: float = 0.0
    by: str = ""


class Recalled(Answer, frozen=True, kw_only=True):
    memories: list[RecalledMemory]
    project: str = ""
    remark: str = ""  # if nothing was found


class Forgotten(Answer, frozen=True, kw_only=True):
    forgotten: list[str]
    missing: list[str] = []
    captures: int = 0  # of the same texts, also deleted
    not_searched: int = 0  # older captures that may contain them too


class Healthy(Answer, frozen=True, kw_only=True):
    status: str
    problems: list[str] = []
    details: dict[str, Any] = {}


class Waypoint(Stop, frozen=True):
    content: str = ""
    namespace: str = ""


class PathResult(Answer, frozen=True, kw_only=True):
    stops: list[Waypoint]
    remark: str = ""


class ShownRegion(Struct, frozen=True, kw_only=True):
    keywords: list[str]
    size: int
    coherence: float
    typical: str = ""
    members: list[str]


class ShownRegions(Answer, frozen=True, kw_only=True):
    regions: list[ShownRegion]
    alone: list[str]
    remark: str = ""


class MapResult(Answer, frozen=True, kw_only=True):
    format: str
    nodes: list[dict[str, Any]] = []
    edges: list[dict[str, Any]] = []
    regions: list[dict[str, Any]] = []
    drawing: str = ""
    remark: str = ""


class Changed(Answer, frozen=True, kw_only=True):
    changes: list[dict[str, Any]]
    changed: int = 0
    dry_run: bool = False


class Consolidated(Answer, frozen=True, kw_only=True):
    groups: list[Joined]
    dry_run: bool


class Exported(Answer, frozen=True, kw_only=True):
    path: str
    memories: int


class Imported(Answer, frozen=True, kw_only=True):
    statuses: dict[str, int]
    dry_run: bool


class Counted(Answer, frozen=True, kw_only=True):
    memories: int


class Namespaces(Answer, frozen=True, kw_only=True):
    namespaces: dict[str, int]
    project: str = ""


class RenameResult(Answer, frozen=True, kw_only=True):
    moved: int


class SetupResult(Answer, frozen=True, kw_only=True):
    client: str
    paths: dict[str, str]
    capabilities: dict[str, Any]
    hooks: Any
    mcp_config: Any
    instructions: str
    how: str


class Explained(Answer, frozen=True, kw_only=True):
    id: str
    verdict: str
    explanation: str


class Report(Answer, frozen=True, kw_only=True):
    session_id: str
    report: str
    decisions: int


class Listed(Answer, frozen=True, kw_only=True):
    sessions: list[dict[str, Any]] = []
    efforts: list[dict[str, Any]] = []
