"""
Check and clean drafts before anything else is done with them: names, limits, control characters, secrets.

A text also gets a score for how informative it is: a short one without structure or names is not worth storing.
"""

import hashlib
import re
import unicodedata
from collections.abc import Mapping
from typing import Any

import msgspec

from snell.memory.types import LONGEST, Draft, NotRememberedError
from snell.model.events import nests_deeper_than
from snell.redact import find, is_too_secret, redact, redact_data
from snell.redact.pattern_file import patterns_of

PATTERNS = patterns_of("memory")
_NAMESPACE = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,62}\Z")
_ID = re.compile(r"[A-Za-z0-9_-]{8,64}\Z")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_BREAK = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
REJECT, LOWER = 0.3, 0.5  # quality
METADATA_BYTES, METADATA_DEPTH = 64 * 1024, 10
TAGS, TAG_LENGTH = 50, 100
PROJECT_LENGTH = 1_024
SOURCE_LENGTH, AGENT_LENGTH = 100, 200


def validate_draft(draft: Draft) -> Draft:
    """Return the draft as it can be stored; raises `NotRememberedError` with the reason if it cannot."""
    draft = clean_draft(draft)
    content = draft.content.strip()
    if not content:
        raise NotRememberedError("there is nothing to remember: the text is empty")
    if len(content) > LONGEST:
        problem = f"the text has {len(content):,} characters, and {LONGEST:,} is the most"
        raise NotRememberedError(problem, advice="split it")
    check_namespace(draft.namespace)
    check_importance(draft.importance)
    _check_metadata(draft.metadata)
    if len(draft.project) > PROJECT_LENGTH or _BREAK.search(draft.project):
        raise NotRememberedError("the project's name is too long or contains control characters")
    if len(draft.idempotency_key) > 200 or _CONTROL.search(draft.idempotency_key):
        raise NotRememberedError("the idempotency key is longer than 200 characters or contains control characters")
    return msgspec.structs.replace(
        draft,
        content=unicodedata.normalize("NFC", content),
        tags=clean_tags(draft.tags),
        source=draft.source[:SOURCE_LENGTH],
        agent=draft.agent[:AGENT_LENGTH],
    )


def clean_draft(draft: Draft) -> Draft:
    """
    Return the draft without terminal control characters, and with names that are one line each.

    INVARIANT: this comes before the search for secrets, since one with such a character in it is not recognised; what
    is too long is cut after it, since half of a secret is not recognised either.
    """
    return msgspec.structs.replace(
        draft,
        content=without_controls(draft.content),
        tags=tuple(map(one_line, draft.tags)),
        source=one_line(draft.source),
        agent=one_line(draft.agent),
    )


def redact_draft(draft: Draft) -> Draft:
    """Return the draft without secrets in any field; raises NotRememberedError if it is mostly secret."""
    draft = clean_draft(draft)
    if is_too_secret(draft.content, find(draft.content)):
        raise NotRememberedError("the text is mostly secret, so none of it is stored")
    key = draft.idempotency_key
    return msgspec.structs.replace(
        draft,
        content=redact(draft.content),
        tags=tuple(redact(tag) for tag in draft.tags),
        metadata=redact_data(draft.metadata),
        source=redact(draft.source),
        agent=redact(draft.agent),
        project=redact(draft.project),
        # A hash if it is secret: placeholders would make two keys the same.
        idempotency_key=key if redact(key) == key else hashlib.sha256(key.encode("utf-8", "replace")).hexdigest(),
    )


def without_controls(text: str) -> str:
    """Return a text without terminal control characters."""
    return _CONTROL.sub("", text)


def one_line(text: str) -> str:
    """Return a text on one line, with a space for each unprintable character."""
    return " ".join("".join(each if each.isprintable() else " " for each in text).split())


def check_namespace(name: str) -> str:
    if not _NAMESPACE.match(name):
        shown = _CONTROL.sub("?", name[:80])
        advice = "begin with a letter; letters, digits, `_` and `-`, 63 at most"
        raise NotRememberedError(f"`{shown}` is not a name for a namespace", advice=advice)
    return name


def is_id(text: str) -> bool:
    """Whether a text is a valid id of a memory."""
    return _ID.match(text) is not None


def check_importance(value: float) -> float:
    if not 0 <= value <= 1:
        raise NotRememberedError(f"the importance is `{value}`, not a number from 0 to 1")
    return float(value)


def clean_tags(tags: tuple[str, ...]) -> tuple[str, ...]:
    """Return the tags in lower case, each once, in their order."""
    if len(tags) > TAGS:
        raise NotRememberedError(f"there are {len(tags)} tags, and {TAGS} is the most")
    cleaned = (one_line(tag).lower()[:TAG_LENGTH] for tag in tags)
    return tuple(dict.fromkeys(tag for tag in cleaned if tag))


def _check_metadata(metadata: Mapping[str, Any]) -> None:
    if nests_deeper_than(METADATA_DEPTH, metadata):
        raise NotRememberedError(f"the metadata is nested deeper than {METADATA_DEPTH} levels")
    try:
        size = len(msgspec.json.encode(metadata))
    except (TypeError, ValueError, RecursionError) as error:
        raise NotRememberedError(f"the metadata is not JSON: {error}") from None
    if size > METADATA_BYTES:
        raise NotRememberedError(f"the metadata has {size:,} bytes, and {METADATA_BYTES:,} is the most")


def quality(draft: Draft) -> float:
    """Return 0 to 1, from the signal, the length, the structure, and how concrete the text is."""
    text = draft.content
    structure = (
        0.3 * bool(draft.tags) + 0.3 * bool(PATTERNS.reasons.search(text)) + 0.4 * bool(PATTERNS.names.search(text))
    )
    length = next((score for limit, score in _LENGTH_SCORES if len(text) < limit), 0.7)
    concrete = (PATTERNS.file, PATTERNS.call, PATTERNS.version, PATTERNS.link_or_code)
    richness = 0.25 * sum(bool(pattern.search(text)) for pattern in concrete)
    parts = 0.3 * draft.signal, 0.2 * length, 0.2 * structure, 0.3 * richness
    return round(sum(parts), 4)


_LENGTH_SCORES = ((20, 0.0), (100, 0.5), (501, 1.0), (2_001, 0.8))  # of texts with fewer characters
