"""Capture a text into the inbox: classify, redact, describe, deliver. Nothing is written before it is redacted."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from snell.memory.inbox import Inbox, inbox_folder
from snell.memory.inbox_entry import LARGEST, InboxEntry, decode_entry, encode_entry, stamp
from snell.memory.project_identity import project_of
from snell.memory.signals import Signal, classify, importance_of, namespace_of
from snell.memory.tool_extraction import cut_at_word
from snell.memory.types import NotRememberedError, content_hash
from snell.model.context import Context
from snell.model.events import Event
from snell.redact import find, is_too_secret, redact, redact_data
from snell.system.files import FileError, read_capped
from snell.system.paths import make_private

PIECE = 5_000  # characters of one capture
WHOLE = 800  # a message up to this length is captured as it is; of a longer one, the paragraphs with a signal
COMPARED = 50  # files that a text from a transcript is compared with


class CaptureResult(Struct, frozen=True, kw_only=True):
    """The result of capturing one text."""

    queued: bool = False
    reason: str = ""  # why not
    path: str = ""
    tier: int = 3
    score: float = 0.0
    patterns: tuple[str, ...] = ()
    redactions: int = 0
    length: int = 0


def inbox_of(context: Context) -> Inbox | None:
    """Return the inbox of the user; None without a state folder."""
    if context.state is None:
        return None
    folder = inbox_folder(context.state, context.options.get("inbox"))
    if context.options.get("inbox"):
        make_private(context.state / "memory")  # the daemon's timer looks for captures once it is there
    return Inbox(folder)


class Source(Struct, frozen=True, kw_only=True):
    """The origin of texts: what their inbox files contain besides the text. Determined once for all of them."""

    event: Event
    place: str
    project: str
    tag: str
    context: dict[str, str]


def source_of(event: Event, context: Context, *, tag: str, origin: dict[str, Any]) -> Source:
    place = context.project_dir or event.cwd
    safe = {name: redact_data(str(value), 1000) for name, value in origin.items() if value}
    return Source(event=event, place=place[:1024], project=project_of(place), tag=tag.lower()[:100], context=safe)


def capture(text: str, source: Source, inbox: Inbox | None, known: set[str] | None = None) -> CaptureResult:
    """Put a text into the inbox if it has a signal; `known` holds the hashes of the captured texts."""
    result, data = prepare_entry(text, source, known)
    if not data:
        return result
    if inbox is None:
        return replace(result, queued=False, reason="there is no state folder")
    return replace(result, path=str(inbox.deliver(data)))


def prepare_entry(text: str, source: Source, known: set[str] | None = None) -> tuple[CaptureResult, bytes]:
    """Return the result for a text, and the file for the inbox; that is empty if the text is not captured."""
    signal = classify(text)
    result = CaptureResult(tier=signal.tier, score=signal.score, patterns=signal.types, length=len(text))
    if signal.tier == 3:
        return replace(result, reason="no signal"), b""
    secrets = find(text)
    result = replace(result, redactions=len(secrets))
    if is_too_secret(text, secrets):
        return replace(result, reason="too secret"), b""
    safe = redact(text) if secrets else text
    digest = content_hash(safe)
    if known is not None and digest in known:
        return replace(result, reason="there already"), b""
    if known is not None:
        known.add(digest)
    return replace(result, queued=True), encode_entry(_entry(safe, signal, source))


def _entry(safe: str, signal: Signal, source: Source) -> InboxEntry:
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
    """Return the hashes of the texts that were captured last, redacted."""
    return {content_hash(entry.content) for path in inbox.newest(COMPARED) for entry in _read(path)}


def pieces(text: str, *, cuts: bool = False) -> Iterator[str]:
    """Yield a message in parts that can be captured; together they contain all of it, or its beginning if `cuts`."""
    if cuts:
        yield cut_at_word(text, PIECE)
        return
    if len(text) <= WHOLE:
        yield text
        return
    for paragraph in text.split("\n\n"):
        rest = paragraph.strip()
        while rest:
            part = cut_at_word(rest, PIECE)  # half of a secret would not be recognised
            yield part.strip()
            rest = rest[len(part) :].strip()


def _read(path: Path) -> Iterator[InboxEntry]:
    try:
        yield decode_entry(read_capped(path, LARGEST, follow_links=False))
    except (OSError, FileError, NotRememberedError):
        return
