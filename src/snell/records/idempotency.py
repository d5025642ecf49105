"""
Compute the idempotency key of a tool call: SHA-256 over `run|namespace|tool|arguments|scope`, and a nonce for repeats.

Two calls with the same key are the same call. Equal arguments give the same hash: the order of keys and of sets does
not matter, tuples equal lists, and request ids are left out at any depth.
"""

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import Struct

from snell.model.tools import mcp_parts

DEEPEST = 400  # levels; no client nests arguments that deep

_REQUEST_IDS = frozenset({"idempotency_key", "client_request_id"})
# Arguments of a batch that do not belong to its calls.
_BATCH_ARGUMENTS = frozenset(
    {"session_id", "current_step", "current_step_metric", "sync_response_to_workbench", "thought"}
)
_RECIPIENTS = ("recipient_email", "to", "recipient", "recipients", "email", "to_email")
_SUBJECT = ("subject",)
_ATTACHMENTS = ("attachment", "attachments", "s3key", "attachment_path", "file_path")
_PATHS = ("path", "file_path", "local_path", "source", "file")
_DESTINATIONS = ("destination", "target", "remote_path", "bucket", "url", "toolkit_slug", "tool_slug", "folder_id")
_CONTENTS = ("content", "text", "memory", "value", "data", "messages")
_ACTIONS = {"mail": "mail", "upload": "upload", "memory": "memory", "remember": "memory"}
_encode = msgspec.json.Encoder(order="sorted").encode


class Identity(Struct, frozen=True):
    """A tool by its name in the ledger, which is the same for all clients."""

    name: str
    namespace: str
    raw: str


def identity_of(tool: str) -> Identity:
    """Return name and namespace: `mcp__mail__send` is `send` in `mcp`; the shell and sub-agents are `claude_code`."""
    server, name = mcp_parts(tool)
    if server and name:
        return Identity(name.rpartition("__")[2] or name, "mcp", tool)
    return Identity(tool, "claude_code" if tool in ("Bash", "Task", "Agent") else "composio", tool)


@lru_cache(maxsize=512)
def is_batch(tool: str) -> bool:
    """Whether this tool calls several others."""
    return "multi_execute" in tool.lower().replace("-", "_")


def normalise(value: Any, left_out: frozenset[str] = _REQUEST_IDS, depth: int = 0) -> Any:
    """Return the value without the names in `left_out` and in a fixed order."""
    if depth > DEEPEST:
        raise ValueError(f"arguments nest deeper than {DEEPEST} levels")
    if isinstance(value, Mapping):
        pairs = ((str(key), each) for key, each in value.items())
        return {key: normalise(each, left_out, depth + 1) for key, each in sorted(pairs) if key not in left_out}
    if isinstance(value, set | frozenset):
        return sorted((normalise(each, left_out, depth + 1) for each in value), key=_bytes)
    if isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray):
        return [normalise(each, left_out, depth + 1) for each in value]
    if isinstance(value, bytes | bytearray):
        return base64.b64encode(value).decode()
    return value if value is None or isinstance(value, str | int | float) else str(value)


def args_hash(arguments: Any, tool: str = "") -> str:
    """Return the SHA-256 of the normalised arguments: compact JSON with sorted keys, in UTF-8."""
    if is_batch(tool):
        return hashlib.sha256(_bytes(normalise(arguments, _REQUEST_IDS | _BATCH_ARGUMENTS))).hexdigest()
    try:
        # Without request ids these are the same bytes, at a tenth of the cost; a client waits for this.
        data = _encode(arguments)
    except (TypeError, ValueError, OverflowError, RecursionError):
        return hashlib.sha256(_bytes(normalise(arguments))).hexdigest()
    if b"idempotency_key" in data or b"client_request_id" in data:
        data = _bytes(normalise(arguments))
    return hashlib.sha256(data).hexdigest()


def scope_of(tool: str, arguments: Any, hashed: str) -> str:
    """Return what identifies the action: the recipient of a mail, the destination of a file, the text of a memory."""
    action = action_of(tool)
    if not action:
        return hashed
    given = arguments if isinstance(arguments, Mapping) else {}
    if action == "mail":
        return f"{_first(given, _RECIPIENTS)}:{_first(given, _SUBJECT)}:{_first(given, _ATTACHMENTS)}"
    if action == "upload":
        return f"{_first(given, _PATHS)}:{_first(given, _DESTINATIONS)}"
    return sha_of(_first(given, _CONTENTS))


@lru_cache(maxsize=512)
def action_of(tool: str) -> str:
    """Return the action of a tool whose calls can repeat an action with other arguments; else an empty text."""
    name = tool.lower()
    return next((action for word, action in _ACTIONS.items() if word in name), "")


def key_of(run_id: str, tool: Identity, hashed: str, scope: str, nonce: str = "") -> str:
    """Return the key of a call; a nonce makes it unique."""
    parts = f"{run_id}|{tool.namespace}|{tool.name}|{hashed}|{scope}"
    return sha_of(f"{parts}|{nonce}" if nonce else parts)


def _first(given: Mapping[str, Any], names: Sequence[str]) -> str:
    for name in names:
        value = given.get(name)
        if value:
            return value if isinstance(value, str) else _bytes(normalise(value)).decode("utf-8", "replace")
    return ""


def _bytes(value: Any) -> bytes:
    try:
        return _encode(value)
    except (ValueError, OverflowError):  # a lone surrogate, or a number with hundreds of digits
        return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def sha_of(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
