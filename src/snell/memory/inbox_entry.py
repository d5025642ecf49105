"""The content of an inbox file: encode it, decode it and check it."""

import re
import time
from calendar import timegm
from typing import Any

import msgspec
from msgspec import Struct

from snell.memory.signals import MODERATE, STRONG
from snell.memory.types import Draft, NotRememberedError
from snell.memory.validation import validate_draft

VERSION = 1
LARGEST = 1_048_576  # bytes
PROJECT_DIR = 1_024

_DEVICE = re.compile(r"(?:^|[/\\])(?:con|prn|aux|nul|com[1-9]|lpt[1-9])(?:\.[^/\\]*)?(?:[/\\]|\Z)", re.IGNORECASE)


class InboxEntry(Struct, frozen=True, kw_only=True):
    """One capture, as it is written. The text is already redacted."""

    version: int = VERSION
    content: str
    source_hook: str
    timestamp: str  # UTC, to the second, with a Z
    project_root_dir: str = ""
    project: str = ""
    suggested_namespace: str = "captured"
    suggested_tags: tuple[str, ...] = ()
    suggested_importance: float = 0.5
    signal_tier: int = 2
    signal_patterns_matched: tuple[str, ...] = ()
    context: dict[str, Any] = {}
    client: str = ""


def encode_entry(entry: InboxEntry) -> bytes:
    """Return the bytes of the file; an importance outside 0 to 1 is clamped."""
    importance = max(0.0, min(1.0, entry.suggested_importance))
    return msgspec.json.encode(msgspec.structs.replace(entry, suggested_importance=importance))


def decode_entry(data: bytes) -> InboxEntry:
    """Return the content of a file; raises `NotRememberedError` with what is wrong."""
    if len(data) > LARGEST:
        raise NotRememberedError(f"the file has more than {LARGEST:,} bytes")
    try:
        entry = msgspec.json.decode(data, type=InboxEntry)
    except (msgspec.DecodeError, RecursionError) as error:
        raise NotRememberedError(f"the file is not a capture: {error}") from None
    _check(entry)
    return entry


def is_valid_entry(data: bytes) -> bool:
    """Whether a file can be decoded."""
    try:
        decode_entry(data)
    except NotRememberedError:
        return False
    return True


def draft_of(entry: InboxEntry, project: str) -> Draft:
    """Return the draft of a capture."""
    return Draft(
        content=entry.content,
        namespace=entry.suggested_namespace,
        project=entry.project or project,
        tags=entry.suggested_tags,
        importance=entry.suggested_importance,
        metadata={**entry.context, "client": entry.client, "patterns": list(entry.signal_patterns_matched)},
        source=entry.source_hook,
        signal={1: STRONG, 2: MODERATE}.get(entry.signal_tier, 0.0),
        at=_milliseconds(entry.timestamp),
    )


def stamp(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def _check(entry: InboxEntry) -> None:
    if entry.version != VERSION:
        raise NotRememberedError(f"the file has version {entry.version}, and this program reads {VERSION}")
    if entry.signal_tier not in (1, 2, 3):
        raise NotRememberedError(f"the tier is {entry.signal_tier}, not 1, 2 or 3")
    validate_draft(draft_of(entry, ""))
    path = entry.project_root_dir
    if len(path) > PROJECT_DIR or "\0" in path:
        raise NotRememberedError("the project's folder is too long or contains a NUL")
    if path.startswith(("\\\\", "//")):
        raise NotRememberedError("the project's folder is on another machine")
    if _DEVICE.search(path):
        raise NotRememberedError("the project's folder names a device")


def _milliseconds(text: str) -> int:
    """Return when it was captured; 0 (now) if that is invalid or in the future."""
    try:
        seconds = timegm(time.strptime(text, "%Y-%m-%dT%H:%M:%SZ"))
    except ValueError:
        return 0
    return seconds * 1000 if 0 < seconds <= time.time() + 60 else 0
