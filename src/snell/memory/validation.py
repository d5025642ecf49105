"""Names and limits: what may be stored at all, checked before anything else is done with it."""

import re
import unicodedata
from collections.abc import Mapping
from typing import Any

import msgspec

from snell.memory.types import LONGEST, Draft, NotRememberedError
from snell.model.events import nests_deeper_than

_NAMESPACE = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,62}\Z")
_ID = re.compile(r"[A-Za-z0-9_-]{8,64}\Z")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_BREAK = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
METADATA_BYTES, METADATA_DEPTH = 64 * 1024, 10
TAGS, TAG_LENGTH = 50, 100
PROJECT_LENGTH = 1_024
SOURCE_LENGTH, AGENT_LENGTH = 100, 200


def validate_draft(draft: Draft) -> Draft:
    """The draft as it can be stored; what cannot be is a `NotRememberedError` that says why."""
    draft = clean_draft(draft)
    content = draft.content.strip()
    if not content:
        raise NotRememberedError("there is nothing to remember: the text is empty")
    if len(content) > LONGEST:
        raise NotRememberedError(
            f"the text has {len(content):,} characters, and {LONGEST:,} is the most", advice="split it"
        )
    check_namespace(draft.namespace)
    check_importance(draft.importance)
    _check_metadata(draft.metadata)
    if len(draft.project) > PROJECT_LENGTH or _BREAK.search(draft.project):
        raise NotRememberedError("the project's name is too long or holds control characters")
    if len(draft.idempotency_key) > 200 or _CONTROL.search(draft.idempotency_key):
        raise NotRememberedError("the idempotency key is longer than 200 characters or holds control characters")
    return msgspec.structs.replace(
        draft,
        content=unicodedata.normalize("NFC", content),
        tags=clean_tags(draft.tags),
        source=draft.source[:SOURCE_LENGTH],
        agent=draft.agent[:AGENT_LENGTH],
    )


def clean_draft(draft: Draft) -> Draft:
    """
    The draft without characters that steer a terminal, and with names that are one line each.

    INVARIANT: this comes before the look for secrets, since one with such a character in it is not recognised; what is
    too long is cut after it, since half of a secret is not recognised either.
    """
    return msgspec.structs.replace(
        draft,
        content=without_controls(draft.content),
        tags=tuple(map(one_line, draft.tags)),
        source=one_line(draft.source),
        agent=one_line(draft.agent),
    )


def without_controls(text: str) -> str:
    """A text without characters that steer a terminal."""
    return _CONTROL.sub("", text)


def one_line(text: str) -> str:
    """A text on one line: what cannot be seen is a space."""
    return " ".join("".join(each if each.isprintable() else " " for each in text).split())


def check_namespace(name: str) -> str:
    if not _NAMESPACE.match(name):
        shown = _CONTROL.sub("?", name[:80])
        advice = "begin with a letter; letters, digits, `_` and `-`, 63 at most"
        raise NotRememberedError(f"`{shown}` is not a name for a namespace", advice=advice)
    return name


def is_id(text: str) -> bool:
    """Whether a memory may be called so."""
    return _ID.match(text) is not None


def check_importance(value: float) -> float:
    if not 0 <= value <= 1:
        raise NotRememberedError(f"the importance is `{value}`, not a number from 0 to 1")
    return float(value)


def clean_tags(tags: tuple[str, ...]) -> tuple[str, ...]:
    """Each once, in lower case, in their order."""
    if len(tags) > TAGS:
        raise NotRememberedError(f"there are {len(tags)} tags, and {TAGS} is the most")
    cleaned = (one_line(tag).lower()[:TAG_LENGTH] for tag in tags)
    return tuple(dict.fromkeys(tag for tag in cleaned if tag))


def _check_metadata(metadata: Mapping[str, Any]) -> None:
    if nests_deeper_than(METADATA_DEPTH, metadata):
        raise NotRememberedError(f"the metadata nests deeper than {METADATA_DEPTH} levels")
    try:
        size = len(msgspec.json.encode(metadata))
    except (TypeError, ValueError, RecursionError) as error:
        raise NotRememberedError(f"the metadata is not JSON: {error}") from None
    if size > METADATA_BYTES:
        raise NotRememberedError(f"the metadata has {size:,} bytes, and {METADATA_BYTES:,} is the most")
