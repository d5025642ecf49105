"""Rewrite names of secrets in other languages, such as `senha` and `密码`, to English, so that they are recognised."""

import re
from collections.abc import Iterator
from functools import cache

from snell.redact.normalise import Piece, View
from snell.redact.pattern_file import PATTERNS, any_of

_BETWEEN, _NEXT_WORD = "[ _-]?", r"((?:_[^\W\d_]{1,12}){1,2})?"


def in_english(text: str) -> View:
    """Return the text with each of these names in English."""
    pieces = list(_pieces(text))
    return View("".join(piece for piece, _, _ in pieces), lambda: pieces)


def _pieces(text: str) -> Iterator[Piece]:
    small = text.lower()
    is_aligned = len(small) == len(text)
    last = 0
    for found in _names(0 if is_aligned else re.IGNORECASE).finditer(small if is_aligned else text):
        start, end = found.span()
        yield text[last:start], last, start - last
        # `senha_banco` is a password, `senha_invalida` a message: after another word the value has to look like one.
        yield "password" if found[1] and not found[2] else "secret_key", start, end - start
        last = end
    yield text[last:], last, len(text) - last


def may_have_name(text: str) -> bool:
    """Whether a text has one of the names; quick, without google-re2."""
    small = text.lower()
    if not text.isascii() and _letters().search(small):
        return bool(_names().search(small))
    return any(hint in small and names.search(small) for hint, names in _hints().items())


def names_for_re2() -> str:
    """Return the pattern of all names, in small letters and capitals."""
    return "(?i)(?:" + "|".join(re.escape(name).replace("_", _BETWEEN) for name in _words()) + r")(?:[^a-z]|$)"


@cache
def _names(flags: int = 0) -> re.Pattern[str]:
    passwords, others = (
        any_of(sorted(words.split())).replace("_", _BETWEEN) for words in PATTERNS.tables["foreign_names"].values()
    )
    return re.compile(rf"(?:({passwords})|{others}){_NEXT_WORD}(?![a-z])", flags)


def _words() -> list[str]:
    return [name for words in PATTERNS.tables["foreign_names"].values() for name in words.split()]


@cache
def _letters() -> re.Pattern[str]:
    """Return a pattern for a letter that is not ASCII of each name that has one."""
    return re.compile(
        "[" + "".join({next(c for c in name if not c.isascii()) for name in _words() if not name.isascii()}) + "]"
    )


@cache
def _hints() -> dict[str, re.Pattern[str]]:
    """Map the longest word of names in ASCII to these names: searching for a word is much faster than for a pattern."""
    table: dict[str, list[str]] = {}
    for name in filter(str.isascii, _words()):
        table.setdefault(max(name.split("_"), key=len), []).append(name.replace("_", _BETWEEN))
    return {hint: re.compile("|".join(names)) for hint, names in table.items()}
