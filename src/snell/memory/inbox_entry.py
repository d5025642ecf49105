"""The file that waits in the inbox until it is remembered: what stands in it, and whether that can be believed."""

import re
import time
from calendar import timegm
from typing import Any

import msgspec
from msgspec import Struct

from snell.memory.signals import MODERATE, STRONG
from snell.memory.types import LONGEST, Draft, NotRememberedError
from snell.memory.validation import METADATA_BYTES, METADATA_DEPTH, check_importance, check_namespace
from snell.model.events import nests_deeper_than

VERSION = 1
LARGEST = 1_048_576  # bytes
PROJECT_DIR = 1_024

_DEVICE = re.compile(r"(?:^|[/\\])(?:con|prn|aux|nul|com[1-9]|lpt[1-9])(?:\.[^/\\]*)?(?:[/\\]|\Z)", re.IGNORECASE)


class InboxEntry(Struct, frozen=True, kw_only=True):
    """One capture, as it is written. The text is redacted already."""

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


def encode_entry(waiting: InboxEntry) -> bytes:
    """The bytes of the file; an importance outside 0 to 1 is brought inside."""
    importance = max(0.0, min(1.0, waiting.suggested_importance))
    return msgspec.json.encode(msgspec.structs.replace(waiting, suggested_importance=importance))


def decode_entry(data: bytes) -> InboxEntry:
    """What the file says; a `NotRememberedError` says what is wrong with it."""
    if len(data) > LARGEST:
        raise NotRememberedError(f"the file has more than {LARGEST:,} bytes")
    try:
        waiting = msgspec.json.decode(data, type=InboxEntry)
    except (msgspec.DecodeError, RecursionError) as error:
        raise NotRememberedError(f"the file is not a capture: {error}") from None
    _check(waiting)
    return waiting


def draft_of(waiting: InboxEntry, project: str) -> Draft:
    """The draft that a capture is."""
    return Draft(
        content=waiting.content,
        namespace=waiting.suggested_namespace,
        project=waiting.project or project,
        tags=waiting.suggested_tags,
        importance=waiting.suggested_importance,
        metadata={**waiting.context, "client": waiting.client, "patterns": list(waiting.signal_patterns_matched)},
        source=waiting.source_hook,
        signal={1: STRONG, 2: MODERATE}.get(waiting.signal_tier, 0.0),
        at=_milliseconds(waiting.timestamp),
    )


def stamp(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def _check(waiting: InboxEntry) -> None:
    if waiting.version != VERSION:
        raise NotRememberedError(f"the file is of version {waiting.version}, and this program reads {VERSION}")
    if not waiting.content.strip():
        raise NotRememberedError("there is nothing to remember: the text is empty")
    if len(waiting.content) > LONGEST:
        raise NotRememberedError(f"the text has {len(waiting.content):,} characters, and {LONGEST:,} is the most")
    check_importance(waiting.suggested_importance)
    check_namespace(waiting.suggested_namespace)
    if waiting.signal_tier not in (1, 2, 3):
        raise NotRememberedError(f"the tier is {waiting.signal_tier}, not 1, 2 or 3")
    if nests_deeper_than(METADATA_DEPTH, waiting.context) or len(msgspec.json.encode(waiting.context)) > METADATA_BYTES:
        raise NotRememberedError("the context is too deep or too large")
    _check_place(waiting.project_root_dir)


def _check_place(path: str) -> None:
    if len(path) > PROJECT_DIR or "\0" in path:
        raise NotRememberedError("the project's folder is too long or holds a NUL")
    if path.startswith(("\\\\", "//")):
        raise NotRememberedError("the project's folder is on another machine")
    if _DEVICE.search(path):
        raise NotRememberedError("the project's folder names a device")


def _milliseconds(text: str) -> int:
    """When it was said; 0 (now) if that cannot be read or lies in the future."""
    try:
        seconds = timegm(time.strptime(text, "%Y-%m-%dT%H:%M:%SZ"))
    except ValueError:
        return 0
    return seconds * 1000 if 0 < seconds <= time.time() + 60 else 0
