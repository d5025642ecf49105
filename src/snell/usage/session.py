"""Count what a session has used, in its transcript and those of its sub-agents; what was read is not read again."""

import os
import threading
from collections.abc import Iterator
from functools import reduce
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, field

from snell.conversations.claude_code import files_of_session
from snell.conversations.record import LONGEST_LINE, MOST_BYTES
from snell.model.events import Event
from snell.system.json_input import json_or_none
from snell.system.paths import places
from snell.system.transcripts import is_readable, lines_since
from snell.usage.answers import MARKERS, Answer, Tokens, answers_in
from snell.usage.figures import Usage
from snell.usage.status_line import last_status

MOST_FILES = 128  # whose counts are kept


class Counts(Struct):
    """The counts from one transcript so far, and the offset from which to read on."""

    offset: int = 0
    file: tuple[int, int] = (0, 0)  # its device and number, to notice another file under the same name
    tokens: Tokens = Tokens()
    answers: dict[str, Tokens] = field(default_factory=dict)
    context: int = 0
    window: int = 0
    model: str = ""

    def add(self, answer: Answer) -> None:
        if answer.total is not None:
            self.tokens = answer.total
        else:
            before = self.answers.get(answer.key, Tokens()) if answer.key else Tokens()
            self.tokens = self.tokens.plus(answer.tokens).plus(before, -1)
            if answer.key:
                self.answers[answer.key] = answer.tokens
        if not answer.is_side:
            self.context, self.window = answer.context or self.context, answer.window or self.window
            self.model = answer.model if answer.model not in ("", "<synthetic>") else self.model


_counted: dict[str, Counts] = {}
_lock = threading.Lock()


def read_usage(event: Event) -> Usage:
    """Return what the session of an event has used: what the event says itself, else what its transcript says."""
    given = event.payload.get("usage")
    if isinstance(given, dict):  # of a case, or of a program that runs an agent itself
        try:
            return msgspec.convert(given, Usage)
        except msgspec.ValidationError:
            pass
    return usage_in(event.transcript_path, event.session_id)


def usage_in(transcript: str, session_id: str = "") -> Usage:
    """Return what a transcript and the last status line of its session say."""
    files = [count(path) for path in files_of_session(Path(transcript))] if is_readable(transcript) else []
    main, tokens = files[0] if files else Counts(), reduce(Tokens.plus, (each.tokens for each in files), Tokens())
    status = last_status(places(os.environ).state, session_id)
    window = main.window or int(status.window or 0)
    context = main.context or int(status.tokens or 0)
    fill = status.used_percent / 100 if status.used_percent is not None else context / window if window else None
    return Usage(
        tokens_in=tokens.read,
        tokens_out=tokens.written,
        tokens_cached=tokens.cached,
        cache_written=tokens.cache_written,
        context_tokens=context,
        context_window=window,
        context_fill=None if fill is None else min(max(fill, 0.0), 1.0),
        model=main.model or status.model,
    )


def count(path: Path) -> Counts:
    """Return the counts of a transcript, read on from where the last call stopped."""
    with _lock:
        found = os.stat(path)
        known = _counted.pop(str(path), Counts())
        if known.file != (found.st_dev, found.st_ino) or known.offset > found.st_size:
            known = Counts(file=(found.st_dev, found.st_ino))
        for row in _new_rows(path, known):
            for answer in answers_in(row):
                known.add(answer)
        _counted[str(path)] = known
        if len(_counted) > MOST_FILES:
            del _counted[next(iter(_counted))]  # the one that was asked for the longest time ago
        return known


def _new_rows(path: Path, known: Counts) -> Iterator[dict[str, Any]]:
    for line, end in lines_since(str(path), known.offset, MOST_BYTES, LONGEST_LINE):
        known.offset = end
        if any(marker in line for marker in MARKERS):
            row = json_or_none(line)
            if isinstance(row, dict):
                yield row
