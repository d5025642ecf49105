"""
When are two tool calls the same? Their key says it: SHA-256 over `run|namespace|tool|arguments|scope`, and a nonce
where repeats are meant.

Arguments that mean the same give the same hash: the order of keys, sets and tuples, and request ids at any depth play
no part.
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

DEEPEST = 400  # levels; no client sends anything like it

_REQUEST_IDS = frozenset({"idempotency_key", "client_request_id"})
# What a batch of calls says about itself, and not about the calls.
_OF_A_BATCH = frozenset({"session_id", "current_step", "current_step_metric", "sync_response_to_workbench", "thought"})
_RECIPIENTS = ("recipient_email", "to", "recipient", "recipients", "email", "to_email")
_SUBJECT = ("subject",)
_ATTACHMENTS = ("attachment", "attachments", "s3key", "attachment_path", "file_path")
_PATHS = ("path", "file_path", "local_path", "source", "file")
_DESTINATIONS = ("destination", "target", "remote_path", "bucket", "url", "toolkit_slug", "tool_slug", "folder_id")
_CONTENTS = ("content", "text", "memory", "value", "data", "messages")
_DEEDS = {"mail": "mail", "upload": "upload", "memory": "memory", "remember": "memory"}


class Identity(Struct, frozen=True):
    """A tool as the ledger knows it, whatever its client calls it."""

    name: str
    namespace: str
    raw: str


def identity_of(tool: str) -> Identity:
    """`mcp__mail__send` is `send` of `mcp`; the shell and sub-agents are the client's; the rest is a kit's."""
    server, name = mcp_parts(tool)
    if server and name:
        return Identity(name.rpartition("__")[2] or name, "mcp", tool)
    return Identity(tool, "claude_code" if tool in ("Bash", "Task", "Agent") else "composio", tool)


@lru_cache(maxsize=512)
def is_batch(tool: str) -> bool:
    """Does this tool call several others?"""
    return "multi_execute" in tool.lower().replace("-", "_")


def normalise(value: Any, left_out: frozenset[str] = _REQUEST_IDS, depth: int = 0) -> Any:
    """The value as it counts: what says nothing about the call is gone, and every order is one order."""
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
    """SHA-256 of the arguments as they count: compact JSON with sorted keys, in UTF-8."""
    if is_batch(tool):
        return hashlib.sha256(_bytes(normalise(arguments, _REQUEST_IDS | _OF_A_BATCH))).hexdigest()
    try:
        # Where nothing has to be left out these are the same bytes, for a tenth of the cost; somebody waits for this.
        data = _encode(arguments)
    except (TypeError, ValueError, OverflowError, RecursionError):
        return hashlib.sha256(_bytes(normalise(arguments))).hexdigest()
    if b"idempotency_key" in data or b"client_request_id" in data:
        data = _bytes(normalise(arguments))
    return hashlib.sha256(data).hexdigest()


def scope_of(tool: str, arguments: Any, hashed: str) -> str:
    """What makes two calls of this kind the same deed: whom a mail goes to, where a file goes, what is remembered."""
    deed = deed_of(tool)
    if not deed:
        return hashed
    given = arguments if isinstance(arguments, Mapping) else {}
    if deed == "mail":
        return f"{_first(given, _RECIPIENTS)}:{_first(given, _SUBJECT)}:{_first(given, _ATTACHMENTS)}"
    if deed == "upload":
        return f"{_first(given, _PATHS)}:{_first(given, _DESTINATIONS)}"
    return sha_of(_first(given, _CONTENTS))


@lru_cache(maxsize=512)
def deed_of(tool: str) -> str:
    """What calls of a tool do, if that can be the same deed with other arguments."""
    name = tool.lower()
    return next((deed for word, deed in _DEEDS.items() if word in name), "")


def key_of(run_id: str, tool: Identity, hashed: str, scope: str, nonce: str = "") -> str:
    """The key of a call; a nonce makes it one of its own."""
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
    except (ValueError, OverflowError):  # half a surrogate pair, a number of hundreds of digits
        return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


_encode = msgspec.json.Encoder(order="sorted").encode


def sha_of(text: str) -> str:
    """SHA-256, in hexadecimal."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
