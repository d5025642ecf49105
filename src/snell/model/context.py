"""
Context: what applies to one event. The runtime builds one for each event, and the executor, handlers, hooks of
built-in packs and watchers get it.

    @informs("UserPromptSubmit")
    def first_prompt(session_id: str, context: Context) -> Note | None: ...

Hooks that run in a process of their own get an empty one: no state of the runtime reaches them.
"""

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Literal, Protocol

from msgspec import Struct

from snell.model.decision import Decision, Outcome
from snell.model.events import Event
from snell.model.hooks import Hook
from snell.model.protocols import Database, HookRegistry, Store

if TYPE_CHECKING:
    from pathlib import Path

Api = Literal["", "anthropic", "openai", "cli"]
Stage = Literal["started", "running", "completed", "decided"]

# The variable by which a client shows that it runs without a user, and how its value then begins.
_HEADLESS = {"claude_code": ("CLAUDE_CODE_ENTRYPOINT", "sdk")}


class ModelSettings(Struct, frozen=True):
    """The `[model]` table: which model prompt and agent hooks ask, and how much that may cost."""

    name: str = ""
    api: Api = ""  # empty: the one that has a key, else a program of the user's
    url: str = ""
    key_env: str = ""
    key_command: str = ""
    cli: str = ""
    max_answer_tokens: int = 1_000
    max_input_characters: int = 60_000
    max_session_tokens: int = 500_000
    max_daily_cost: float = 0.0  # in the currency of the prices; 0 = no limit
    input_price: float = 0.0  # for a million tokens
    output_price: float = 0.0
    in_batch: bool = False  # model hooks run for headless callers, too


class McpServer(Struct, frozen=True):
    """A row of the `[mcp_servers]` table: a program that speaks MCP on stdin and stdout."""

    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = {}
    url: str = ""  # of a server that a client reaches over HTTP; then there is no command
    headers: Mapping[str, str] = {}


class HandlerSettings(Struct, frozen=True):
    """Settings that handlers read."""

    model: ModelSettings = ModelSettings()
    webhook_hosts: tuple[str, ...] = ()
    mcp_servers: Mapping[str, McpServer] = {}
    config: str = ""  # the user's folders; empty in an embedded runtime
    state: str = ""


class Progress(Struct, frozen=True):
    """What a caller that waits for a decision can show meanwhile."""

    stage: Stage
    hook: str = ""
    status_message: str = ""
    outcome: Outcome | None = None  # of a completed hook
    decision: Decision | None = None  # of the last one


class CancelFlag(Protocol):
    """A flag that any thread may set to stop the hooks of an event; `threading.Event` is one."""

    def is_set(self) -> bool: ...

    def set(self) -> None: ...


class NoMarks(Store):
    """A store that keeps nothing."""


class NoHooks(HookRegistry):
    """A registry without hooks."""


class Context(Struct, frozen=True, kw_only=True):
    """What applies to one event."""

    env: Mapping[str, str] = {}  # the caller's environment
    project_dir: str = ""
    registry: HookRegistry = NoHooks()  # the hooks that are active in the event's folder
    load_problems: tuple[str, ...] = ()  # with the settings there and the files of hooks
    decision_id: str = ""
    is_large: bool = False  # its hooks run in threads, and those in files in a worker process of their own
    # State
    marks: Store = NoMarks()
    database: Database | None = None
    state: "Path | None" = None  # the folder of the runtime's own files; None in an embedded runtime
    config: "Path | None" = None
    # Settings and trust
    settings: HandlerSettings = HandlerSettings()
    options: Mapping[str, Any] = {}  # of the hook's pack: its pack.toml, and the user's settings over it
    is_trusted: bool = False  # the project's own text and settings may be used
    trusts_notes: bool = False  # its LOCAL.md may be given to the model
    trusts_mission: bool = False  # its mission.json, too, as instructions
    # Running hooks
    is_interactive: bool = True  # a user can see progress and cancel; prompt and agent hooks run only then
    progress: Callable[[Progress], None] | None = None
    cancel: CancelFlag | None = None
    begin: Callable[[Hook, Event], CancelFlag | None] = lambda _hook, _event: None  # a hook goes to the background
    late: Callable[[Hook, Event, Outcome], None] = lambda *_: None  # takes the outcome of a hook in the background
    verdict: str = ""  # of the decision; only watchers run late enough to know it

    @property
    def problems(self) -> tuple[str, ...]:
        """Return what is wrong with the settings and hooks that are active."""
        return (*self.load_problems, *self.registry.problems)

    def has_audience(self, event: Event) -> bool:
        """Return whether a user can see what a model hook does, and cancel it; the settings may do without."""
        name, beginning = _HEADLESS.get(event.client, ("", ""))
        is_headless = bool(name) and self.env.get(name, "").startswith(beginning)
        return self.settings.model.in_batch or (self.is_interactive and not is_headless)

    def tell(self, hook: Hook, text: str) -> None:
        """Show how far a hook is, if the caller shows progress."""
        if self.progress:
            self.progress(Progress("running", hook.id, text or hook.status_message))


# The context of the event whose hooks run in this thread or task, for functions that are called without one.
CURRENT_CONTEXT: ContextVar[Context] = ContextVar("context", default=Context())  # noqa: B039 - it is frozen
