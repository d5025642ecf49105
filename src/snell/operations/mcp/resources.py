"""What a client offers to its user: resources (memories, reports of sessions), and prompts about memories."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import mcp_types as types

from snell.llm.untrusted_text import RULES, fence
from snell.memory.map_drawing import brief
from snell.model.errors import SnellError
from snell.system.json_output import json_bytes

Ask = Callable[[str, Mapping[str, Any]], Awaitable[Any]]

MEMORIES, LAST_SESSION = "snell://memories", "snell://sessions/last"
SHOWN = 20  # memories that are listed one by one
# Address, name, description and type of the resources that are always there, and of those with an id.
_FIXED = (
    (MEMORIES, "memories", "the newest memories of this project", "application/json"),
    (LAST_SESSION, "last session", "what Snell decided in the last session", "text/markdown"),
)
_BY_ID = (
    (f"{MEMORIES}/{{id}}", "memory", "one memory, by its id", "application/json"),
    ("snell://sessions/{id}", "session", "what Snell decided in a session", "text/markdown"),
)


class UnknownError(SnellError):
    """The resource does not exist."""

    id = "resource"


async def list_resources(ask: Ask) -> list[types.Resource]:
    """Return the list of memories, the last session, and the newest memories of the project one by one."""
    newest = await ask("memory.list", {"limit": SHOWN})
    fixed = [types.Resource(uri=uri, name=name, description=what, mime_type=kind) for uri, name, what, kind in _FIXED]
    return fixed + [
        types.Resource(uri=f"{MEMORIES}/{each['id']}", name=brief(each["content"], 60), mime_type="application/json")
        for each in newest["memories"]
    ]


def templates() -> list[types.ResourceTemplate]:
    return [
        types.ResourceTemplate(uri_template=uri, name=name, description=what, mime_type=kind)
        for uri, name, what, kind in _BY_ID
    ]


async def read(uri: str, ask: Ask) -> types.TextResourceContents:
    """Return the content of a resource. Raises UnknownError."""
    uri = str(uri)
    if uri == MEMORIES:
        return _json(uri, await ask("memory.list", {"limit": 50}))
    if uri.startswith(f"{MEMORIES}/"):
        return _json(uri, await ask("memory.get", {"memory_id": uri.removeprefix(f"{MEMORIES}/")}))
    if uri.startswith("snell://sessions/"):
        found = await ask("journal.session", {"session_id": uri.removeprefix("snell://sessions/")})
        return types.TextResourceContents(uri=uri, mime_type="text/markdown", text=found["report"])
    raise UnknownError(f"unknown resource `{uri[:200]}`", advice=f"use `{MEMORIES}` or `{LAST_SESSION}`")


def _json(uri: str, value: Any) -> types.TextResourceContents:
    return types.TextResourceContents(uri=uri, mime_type="application/json", text=json_bytes(value).decode())


RECALL = "recall what is known about a topic"
FAINTEST = 0.15  # below this a memory has only some letters in common with the topic
SUMMARISE = "store what this session learned for later sessions"


def list_prompts() -> list[types.Prompt]:
    topic = types.PromptArgument(name="topic", description="what it is about", required=True)
    focus = types.PromptArgument(name="focus", description="what matters most (optional)", required=False)
    return [
        types.Prompt(name="recall", title="Recall", description=RECALL, arguments=[topic]),
        types.Prompt(name="summarise", title="Summarise", description=SUMMARISE, arguments=[focus]),
    ]


async def get_prompt(name: str, arguments: Mapping[str, str], ask: Ask) -> types.GetPromptResult:
    if name == "recall":
        return await _recall(arguments.get("topic", ""), ask)
    if name == "summarise":
        return _message(SUMMARISE, _summarise(arguments.get("focus", "")))
    raise SnellError(f"unknown prompt `{name[:80]}`", advice="use `recall` or `summarise`")


async def _recall(topic: str, ask: Ask) -> types.GetPromptResult:
    if not topic.strip():
        raise SnellError("the prompt `recall` needs a `topic`")
    found = await ask("memory.recall", {"query": topic, "limit": 10, "min_similarity": FAINTEST})
    notes = [{name: each[name] for name in ("id", "namespace", "content")} for each in found["memories"]]
    if not notes:
        return _message(RECALL, f"Nothing is remembered about `{topic}` yet. Say so, and go on without it.")
    head = f"These notes about `{topic}` were kept in earlier sessions. {RULES}"
    wish = "Say in a few sentences what they tell, with their ids, and what is missing."
    return _message(RECALL, f"{head}\n{fence(notes, 'memories')}\n{wish}")


def _summarise(focus: str) -> str:
    about = f" Pay most attention to: {focus}." if focus.strip() else ""
    return (
        f"Summarise this session for the one that comes next.{about} Find the decisions and their reasons, the causes"
        " of errors and how they were mended, conventions, and what is still open. `recall` first what is known"
        " already; then call `remember_batch` with what is new: one fact for each memory, understandable without this"
        " conversation, no secrets. At the end list what you stored, and what was refused and why."
    )


def _message(description: str, text: str) -> types.GetPromptResult:
    message = types.PromptMessage(role="user", content=types.TextContent(text=text))
    return types.GetPromptResult(description=description, messages=[message])
