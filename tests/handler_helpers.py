"""One hook of any handler, run by the real executor or decided by a real runtime."""

from typing import Any

from msgspec.structs import replace

from snell.handlers.agent import Agent
from snell.handlers.mcp_tool import McpTool
from snell.handlers.prompt import Prompt
from snell.handlers.webhook import Webhook
from snell.model.context import Context, HandlerSettings, ModelSettings
from snell.model.decision import Outcome
from snell.model.events import Event
from snell.model.hooks import Handler, Hook, Source
from snell.runtime.executor import Executor
from tests.helpers import call
from tests.loopback import Server

USER = Source("user")


def outcome_of(
    handler: Handler, event: Event | None = None, *, context: Context | None = None, **fields: Any
) -> Outcome:
    """How one run goes, without the time it took."""
    event = event or call()
    hook = Hook(**{"id": "h", "event": event.name, "handler": handler, "timeout": 10.0, "source": USER, **fields})
    executor = Executor()
    try:
        (outcome,) = executor.run((hook,), event, context or Context())
    finally:
        executor.close()
    return replace(outcome, seconds=0.0)


def webhook(server: Server, **fields: Any) -> Webhook:
    return Webhook(f"{server.url}/hook", **fields)


def asking(
    server: Server | None = None, *, env: dict[str, str] | None = None, project_dir: str = "", **model: Any
) -> Context:
    """A context in which model hooks ask this server."""
    given = {"api": "anthropic", **({"url": server.url} if server else {}), **model}
    settings = HandlerSettings(model=ModelSettings(**given))
    return Context(env=env or {}, project_dir=project_dir, settings=settings)


__all__ = ["Agent", "McpTool", "Prompt", "Webhook", "asking", "outcome_of", "webhook"]
