"""
Recognise values of secrets that a session has read, by keyed fingerprints.

A fingerprint does not reveal the value. If a value that was read occurs later in an address, a body or a message, the
secret is about to leave the machine; it does not matter which tool read it.
"""

import base64
import hashlib
import re
import threading
from collections.abc import Iterator, Mapping
from typing import Any

from snell.model.protocols import Store
from snell.system.lazy_regex import lazy_regex

PRINTS, PIECES = "guard/prints", "guard/pieces"
MOST_PRINTS, MOST_PIECES = 128, 1_024
LONGEST_TEXT = 65_536
SHORTEST, PIECE = 12, 6
ADDING = threading.Lock()  # calls that end at the same time extend the same list from several threads

_SEPARATORS = lazy_regex(r"[\s\"'`=&?,;()@{}<>\\|]+")
_PARTS = lazy_regex(r"[/:#.]+")


def record_values(marks: Store, session_id: str, response: Any) -> None:
    """Remember the fingerprints of the values in the response that printed a secret."""
    values = list(_values(text_of(response)))
    found = [_fingerprint(form, session_id) for value in values for form in _forms(value)]
    pieces = [_fingerprint(piece, session_id) for value in values[:MOST_PRINTS] for piece in _pieces(value)]
    if not found:
        return
    with ADDING:
        for key, prints, most in ((PRINTS, found, MOST_PRINTS), (PIECES, pieces, MOST_PIECES)):
            before = _fingerprints_of(marks, session_id, key)
            marks.put(f"session:{session_id}", key, list(dict.fromkeys([*before, *prints]))[-most:])


def has_value(marks: Store, session_id: str, given: Any) -> bool:
    """Tell whether the input holds a value that the session has read from a secret."""
    known = frozenset(_fingerprints_of(marks, session_id, PRINTS))
    return bool(known) and any(_fingerprint(value, session_id) in known for value in _words(text_of(given)))


def has_piece(marks: Store, session_id: str, given: Any) -> bool:
    """Tell whether a word of the input is a part of such a value: sent part by part, the value would leave as well."""
    known = frozenset(_fingerprints_of(marks, session_id, PIECES))
    if not known:
        return False
    words = dict.fromkeys(part for word in _SEPARATORS.split(text_of(given)) for part in _PARTS.split(word))
    pieces = ([_fingerprint(piece, session_id) for piece in _pieces(word)] for word in list(words)[:500])
    return any(each and known.issuperset(each) for each in pieces)


def _fingerprints_of(marks: Store, session_id: str, key: str) -> list[str]:
    kept = marks.get(f"session:{session_id}", key)
    return kept if isinstance(kept, list) else []


def _pieces(value: str) -> list[str]:
    """Return all parts of a value of this length that look generated; a word such as a scheme or a host does not."""
    parts = {value[at : at + PIECE] for at in range(min(len(value), 200) - PIECE + 1)}
    return [part for part in sorted(parts) if _MIXED.search(part)]


_MIXED = lazy_regex(r"(?=.*\d)(?=.*[A-Za-z])^[\w+-]+$")


def text_of(given: Any, depth: int = 0) -> str:
    """Return all text in a tool's input or response."""
    if isinstance(given, str):
        return given[:LONGEST_TEXT]
    if isinstance(given, Mapping) and depth < 6:
        return "\n".join(text_of(part, depth + 1) for part in list(given.values())[:50])[:LONGEST_TEXT]
    if isinstance(given, list | tuple) and depth < 6:
        return "\n".join(text_of(part, depth + 1) for part in given[:50])[:LONGEST_TEXT]
    return ""


def _values(text: str) -> Iterator[str]:
    """Return words that look generated; names of variables, hosts and folders do not."""
    for word in list(dict.fromkeys(_words(text)))[:2_000]:
        has_both = re.search(r"\d", word) and re.search(r"[A-Za-z]", word)
        if has_both and not re.fullmatch(r"[A-Z_]+\d?|[\w-]+(?:\.[a-z-]+)+|[/~].*", word):
            yield word


def _words(text: str) -> Iterator[str]:
    for word in _SEPARATORS.split(text):
        if len(word) >= SHORTEST:
            yield word
            yield from (part for part in _PARTS.split(word) if part != word and len(part) >= SHORTEST)


def _forms(value: str) -> tuple[str, ...]:
    encoded = base64.b64encode(value.encode()).decode().rstrip("=")
    return value, encoded


def _fingerprint(value: str, session_id: str) -> str:
    return hashlib.blake2b(value.encode(errors="replace"), digest_size=8, key=session_id.encode()[:64]).hexdigest()
