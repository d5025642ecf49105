"""
From a text to a file in the inbox: classify -> redact -> describe -> deliver. Nothing else is written, and nothing
before it is redacted.
"""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from snell.memory.inbox import Inbox
from snell.memory.inbox_entry import LARGEST, InboxEntry, decode_entry, encode_entry, stamp
from snell.memory.project_identity import project_of
from snell.memory.signals import Signal, classify, importance_of, namespace_of
from snell.memory.tool_extraction import whole_words
from snell.memory.types import NotRememberedError, content_hash
from snell.model.context import Context
from snell.model.events import Event
from snell.redact import find, is_too_secret, redact, redact_data
from snell.system.files import FileError, read_capped

PIECE = 5_000  # characters of one capture
WHOLE = 800  # a message up to here is captured as it is; of a longer one, the paragraphs with a signal
COMPARED = 50  # files against which a text from a transcript is compared


class Captured(Struct, frozen=True, kw_only=True):
    """What became of one text."""

    queued: bool = False
    reason: str = ""  # why not
    path: str = ""
    tier: int = 3
    score: float = 0.0
    patterns: tuple[str, ...] = ()
    redactions: int = 0
    length: int = 0

    @property
    def skipped(self) -> bool:
        return not self.queued


def inbox_of(here: Context) -> Inbox | None:
    return Inbox(here.state / "memory") if here.state else None


class Source(Struct, frozen=True, kw_only=True):
    """Where texts come from: what their files say besides the text. Looked up once for all of them."""

    event: Event
    place: str
    project: str
    tag: str
    context: dict[str, str]


def source_of(event: Event, here: Context, *, tag: str, context: dict[str, Any]) -> Source:
    place = here.project_dir or event.cwd
    safe = {name: redact_data(str(value), 1000) for name, value in context.items() if value}
    return Source(event=event, place=place[:1024], project=project_of(place), tag=tag.lower()[:100], context=safe)


def capture(text: str, source: Source, inbox: Inbox | None, known: set[str] | None = None) -> Captured:
    """Put a text into the inbox, if it is worth it; `known` holds the hashes of what is there."""
    told, data = prepare_entry(text, source, known)
    if not data:
        return told
    if inbox is None:
        return replace(told, queued=False, reason="this house keeps no files")
    return replace(told, path=str(inbox.deliver(data)))


def prepare_entry(text: str, source: Source, known: set[str] | None = None) -> tuple[Captured, bytes]:
    """What becomes of a text, and the file for the inbox; that is empty where there is none."""
    signal = classify(text)
    told = Captured(tier=signal.tier, score=signal.score, patterns=signal.types, length=len(text))
    if signal.tier == 3:
        return replace(told, reason="no signal"), b""
    secrets = find(text)
    told = replace(told, redactions=len(secrets))
    if is_too_secret(text, secrets):
        return replace(told, reason="too secret"), b""
    safe = redact(text) if secrets else text
    digest = content_hash(safe)
    if known is not None and digest in known:
        return replace(told, reason="there already"), b""
    if known is not None:
        known.add(digest)
    return replace(told, queued=True), encode_entry(_waiting(safe, signal, source))


def _waiting(safe: str, signal: Signal, source: Source) -> InboxEntry:
    return InboxEntry(
        content=safe,
        source_hook=source.event.name,
        timestamp=stamp(time.time()),
        project_root_dir=source.place,
        project=source.project,
        suggested_namespace=namespace_of(signal.types),
        suggested_tags=(source.tag, *signal.types),
        suggested_importance=importance_of(signal),
        signal_tier=signal.tier,
        signal_patterns_matched=signal.types,
        context=source.context,
        client=source.event.client,
    )


def hashes_in(inbox: Inbox) -> set[str]:
    """What was captured last, as hashes of the redacted texts."""
    return {content_hash(waiting.content) for path in inbox.newest(COMPARED) for waiting in _read(path)}


def pieces(text: str) -> Iterator[str]:
    """A message in parts that can be captured: all of it is in one of them."""
    if len(text) <= WHOLE:
        yield text
        return
    for paragraph in text.split("\n\n"):
        rest = paragraph.strip()
        while rest:
            part = whole_words(rest, PIECE)  # half of a secret would not be recognised
            yield part.strip()
            rest = rest[len(part) :].strip()


def _read(path: Path) -> Iterator[InboxEntry]:
    try:
        yield decode_entry(read_capped(path, LARGEST, follow_links=False))
    except (OSError, FileError, NotRememberedError):
        return
