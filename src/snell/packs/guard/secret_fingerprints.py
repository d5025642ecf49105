"""
The values of secrets that a session has seen, as fingerprints: enough to know one again, too little to read it.

A value that was read and then stands in an address, a body or a message is the secret itself leaving the machine,
whatever program or tool it was read with.
"""

from __future__ import annotations

import base64
import hashlib
import re
import threading
from collections.abc import Iterator, Mapping
from typing import Any

from snell.model.protocols import Store
from snell.system.lazy_regex import lazy_regex

PRINTS = "guard/prints"
MOST_PRINTS = 128
LONGEST_TEXT = 65_536
SHORTEST = 12
ADDING = threading.Lock()  # calls that end at the same time add to the same list, each from a thread of its own

_BETWEEN = lazy_regex(r"[\s\"'`=&?,;()@{}<>\\|]+")
_SMALLER = lazy_regex(r"[/:#.]+")


def record_values(marks: Store, session_id: str, response: Any) -> None:
    """Remember what a secret looked like when it was read."""
    found = [_print(form, session_id) for value in _values(text_of(response)) for form in _forms(value)]
    if not found:
        return
    with ADDING:
        kept = marks.get(f"session:{session_id}", PRINTS)
        before = kept if isinstance(kept, list) else []
        marks.put(f"session:{session_id}", PRINTS, list(dict.fromkeys([*before, *found]))[-MOST_PRINTS:])


def has_value(marks: Store, session_id: str, given: Any) -> bool:
    """Does this hold a value that was read from a secret before?"""
    kept = marks.get(f"session:{session_id}", PRINTS)
    if not isinstance(kept, list) or not kept:
        return False
    known = frozenset(kept)
    return any(_print(value, session_id) in known for value in _words(text_of(given)))


def text_of(given: Any, depth: int = 0) -> str:
    """All the text in a tool's input or response."""
    if isinstance(given, str):
        return given[:LONGEST_TEXT]
    if isinstance(given, Mapping) and depth < 6:
        return "\n".join(text_of(part, depth + 1) for part in list(given.values())[:50])[:LONGEST_TEXT]
    if isinstance(given, list | tuple) and depth < 6:
        return "\n".join(text_of(part, depth + 1) for part in given[:50])[:LONGEST_TEXT]
    return ""


def _values(text: str) -> Iterator[str]:
    """Words that look made up by a machine: names of variables, hosts and folders do not."""
    for word in list(dict.fromkeys(_words(text)))[:2_000]:
        has_both = re.search(r"\d", word) and re.search(r"[A-Za-z]", word)
        if has_both and not re.fullmatch(r"[A-Z_]+\d?|[\w-]+(?:\.[a-z-]+)+|[/~].*", word):
            yield word


def _words(text: str) -> Iterator[str]:
    for word in _BETWEEN.split(text):
        if len(word) >= SHORTEST:
            yield word
            yield from (part for part in _SMALLER.split(word) if part != word and len(part) >= SHORTEST)


def _forms(value: str) -> tuple[str, ...]:
    encoded = base64.b64encode(value.encode()).decode().rstrip("=")
    return value, encoded


def _print(value: str, session_id: str) -> str:
    return hashlib.blake2b(value.encode(errors="replace"), digest_size=8, key=session_id.encode()[:64]).hexdigest()
