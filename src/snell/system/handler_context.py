"""What a handler knows beside the event: whose environment, which project, which settings, and whom to tell."""

import threading
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Literal

from msgspec import Struct

from snell.model.decision import Outcome
from snell.model.events import Event
from snell.model.hooks import Hook
from snell.model.progress import Progress
from snell.model.protocols import ClientEmulation

# Takes what a hook says after it went to the background.
Late = Callable[[Hook, Event, Outcome], None]
# Notes that a hook goes on in the background, and says by what it can be told to stop.
Begin = Callable[[Hook, Event], threading.Event]

Api = Literal["", "anthropic", "openai", "cli"]
# By which variable a client shows that nobody sits in front of it.
_HEADLESS = {"claude_code": ("CLAUDE_CODE_ENTRYPOINT", "sdk")}
# The variable in the caller's environment that says: this program answers a model hook's question.
INSIDE = "SNELL_INSIDE_MODEL_HOOK"


class ModelSettings(Struct, frozen=True):
    """The `[model]` table: whom prompt and agent hooks ask, and how much that may cost."""

    name: str = ""
    api: Api = ""  # empty: the one there is a key for, else a program of the user's
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
    in_batch: bool = False  # model hooks run for callers that run headless, too


class McpServer(Struct, frozen=True):
    """A row of the `[mcp_servers]` table: a program that speaks MCP on stdin and stdout."""

    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = {}
    url: str = ""  # of a server that a client reaches over HTTP; then there is no command
    headers: Mapping[str, str] = {}


class HandlerSettings(Struct, frozen=True):
    model: ModelSettings = ModelSettings()
    webhook_hosts: tuple[str, ...] = ()
    mcp_servers: Mapping[str, McpServer] = {}
    config: str = ""  # directories of the user's; empty in a house without files
    state: str = ""


def _no_late(hook: Hook, event: Event, outcome: Outcome) -> None:
    """Nobody wants to know."""


def _no_begin(hook: Hook, event: Event) -> threading.Event:
    return threading.Event()


def _no_voice(written_for: str) -> None:
    return None


class HandlerContext(Struct, frozen=True):
    env: Mapping[str, str] = {}
    project_dir: str = ""
    late: Late = _no_late
    begin: Begin = _no_begin
    cancel: threading.Event | None = None
    settings: HandlerSettings = HandlerSettings()
    is_interactive: bool = True  # somebody can see progress and cancel; prompt and agent hooks run only then
    progress: Callable[[Progress], None] | None = None
    emulation: Callable[[str], ClientEmulation | None] = (
        _no_voice  # for programs that were written as another client's hooks
    )

    def has_audience(self, event: Event) -> bool:
        """Whether somebody can see what a model hook does, and cancel it; the settings may do without."""
        name, beginning = _HEADLESS.get(event.client, ("", ""))
        is_headless = bool(name) and self.env.get(name, "").startswith(beginning)
        return self.settings.model.in_batch or (self.is_interactive and not is_headless)

    def tell(self, hook: Hook, text: str) -> None:
        """Say how far a hook is, if anybody watches."""
        if self.progress:
            self.progress(Progress("running", hook.id, text or hook.status_message))


# For hooks of built-in packs that ask a model: whose environment and settings the event has that they run for.
AROUND: ContextVar[HandlerContext] = ContextVar("around")
