"""
What a hook of a built-in pack may use of the house it runs in: ask for `context`.

    @informs("UserPromptSubmit")
    def first_prompt(session_id: str, context: Context) -> Note | None: ...

Hooks that run in a process of their own see an empty place: no state of the house reaches them.
"""

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from msgspec import Struct

from snell.model.protocols import Database, Store


class NoMarks:
    """A store that keeps nothing: for hooks that run where no state is."""

    def get(self, scope: str, name: str) -> Any:
        return None

    def put(self, scope: str, name: str, value: Any) -> None:
        pass

    def change(self, scope: str, name: str, change: Callable[[Any], Any]) -> None:
        pass

    def drop(self, scope: str, name: str | None = None) -> None:
        pass


class PackContext(Struct, frozen=True, kw_only=True):
    """Where a hook runs, for one event."""

    marks: Store = NoMarks()
    options: Mapping[str, Any] = {}  # of the hook's pack: what its pack.toml says, and the user's settings over it
    database: Database | None = None
    env: Mapping[str, str] = {}  # the caller's environment
    project_dir: str = ""
    is_trusted: bool = False  # may the project's own text and settings be used?
    trusts_notes: bool = False  # may its LOCAL.md be given to the model?
    state: Path | None = None  # folder of the house's own files; none in an embedded house
    config: Path | None = None
    decision_id: str = ""
    verdict: str = ""  # of the decision, for those who watch; nobody else can know it yet


PACK_CONTEXT: ContextVar[PackContext] = ContextVar("context", default=PackContext())  # noqa: B039 - it is frozen
