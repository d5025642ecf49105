"""
Hide secrets in the results of tools.

Why      `env`, `cat .env` and a verbose log put tokens and passwords into the model's context, into the transcript on
         disk and into every later request.
What     Each recognised secret becomes a placeholder such as `[redacted:github-token]`, and the rest of the result
         stays as it is, in the form that the client gave it. A result without secrets is not touched. A client that
         cannot replace a result, or not that of a call that failed, gets a note instead: the model is told what is
         secret and not to repeat it, and you are told once in a session to change the secret.
Instead  Name the tool in `skip`, or disable `redact_output`.
"""

import re
from collections import Counter
from fnmatch import fnmatchcase
from typing import Any

from snell.clients import client_named
from snell.model.context import Context
from snell.model.effects import Note, Rewrite, Tell
from snell.model.events import Event, session_scope
from snell.redact import redact
from snell.redact.data import without_secrets
from snell.sdk.decorators import informs, rewrites

TOLD = "redact_output/told"
SECONDS = 30  # for results of several megabytes
_MOST_KINDS = 8  # named in a message
_PLACEHOLDER = re.compile(r"\[redacted:([a-z0-9-]+)\]")
# Pictures, sound, PDF and archives in base64, by how these begin: they are large, and nothing in them is text.
_PICTURE = re.compile(
    r"(?:data:[\w/+.-]{1,80};base64,)?(?:iVBORw0KGgo|/9j/|R0lGOD|UklGR|JVBERi0|SUQz|UEsDB|H4sI)[A-Za-z0-9+/=\s]{100,}\Z"
)


@rewrites("PostToolUse", timeout=SECONDS)
def replace_secrets(event: Event, context: Context) -> Rewrite | None:
    """Replace secrets in the result of a tool."""
    if _is_skipped(event, context) or not can_replace(event.client):
        return None
    before = event.tool_response
    after = without_secrets_in(before)
    return None if after == before else Rewrite(after, because=f"{_kinds(before, after)} removed from the result")


@informs("PostToolUse", "PostToolUseFailure", timeout=SECONDS)
def warn_about_secrets(event: Event, context: Context) -> list[Note | Tell] | None:
    """Tell the model and the user about a secret in a result that the client cannot replace."""
    failed = event.name == "PostToolUseFailure"
    if _is_skipped(event, context) or (can_replace(event.client) and not failed):
        return None
    before = event.payload.get("error") if failed and "error" in event.payload else event.tool_response
    after = without_secrets_in(before)
    if after == before:
        return None
    kinds = _kinds(before, after)
    note = Note(
        f"The result of this {event.tool_name or 'tool'} call contains a secret ({kinds}). Do not repeat, store or send"
        " it; refer to it by its name."
    )
    scope = session_scope(event)
    if context.marks.get(scope, TOLD):
        return [note]
    context.marks.put(scope, TOLD, True)
    return [note, Tell(f"a result that the model has read contains a secret ({kinds}): change it where it was issued")]


def can_replace(client: str) -> bool:
    """Whether the client takes another result than the tool's."""
    return client_named(client).capabilities.output


def without_secrets_in(value: Any) -> Any:
    """Return a result of any form with a placeholder for each secret."""
    return without_secrets(value, _redact_text, whole_files=False)


def _redact_text(text: str) -> str:
    return text if _PICTURE.match(text) else redact(text)


def _kinds(before: Any, after: Any) -> str:
    """Name what was replaced: `github-token, 2 x password`."""
    found = Counter(_PLACEHOLDER.findall(str(after)))
    found.subtract(_PLACEHOLDER.findall(str(before)))
    named = [f"{count} x {kind}" if count > 1 else kind for kind, count in found.items() if count > 0]
    return ", ".join(named[:_MOST_KINDS]) or "secret"


def _is_skipped(event: Event, context: Context) -> bool:
    skip = context.options.get("skip", ())
    patterns = [each for each in skip if isinstance(each, str)] if isinstance(skip, list | tuple) else []
    return any(fnmatchcase(name, pattern) for pattern in patterns for name in event.tool_names)
