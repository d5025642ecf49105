"""Rewrite names of secrets in other languages, such as `senha` and `密码`, to English, so that they are recognised."""

import re
from collections.abc import Iterator
from functools import cache

from snell.redact.normalise import Piece, View
from snell.redact.pattern_file import PATTERNS, any_of


def in_english(text: str) -> View:
    """Return the text with each of these names in English."""
    pieces = list(_pieces(text))
    return View("".join(piece for piece, _, _ in pieces), lambda: pieces)


def _pieces(text: str) -> Iterator[Piece]:
    small = text.lower()
    is_aligned = len(small) == len(text)
    last = 0
    for found in names(0 if is_aligned else re.IGNORECASE).finditer(small if is_aligned else text):
        start, end = found.span()
        yield text[last:start], last, start - last
        # `senha_banco` is a password, `senha_invalida` a message: after another word the value has to look like one.
        yield "password" if found[1] and not found[2] else "secret_key", start, end - start
        last = end
    yield text[last:], last, len(text) - last


@cache
def names(flags: int = 0) -> re.Pattern[str]:
    """Return the pattern of all names in small letters, each with the words that follow it."""
    passwords, others = name_patterns()
    return re.compile(rf"(?:({passwords})|{others})((?:_[^\W\d_]{{1,12}}){{1,2}})?(?![a-z])", flags)


def name_patterns() -> list[str]:
    """Return the pattern of passwords and that of other secrets."""
    tables = PATTERNS.tables["foreign_names"].values()
    return [any_of(sorted(words.split())).replace("_", "[ _'’-]?") for words in tables]


def has_name(text: str) -> bool:
    """Whether a text has one of the names, without google-re2: to search for a word is faster than for a pattern."""
    small = text.lower()
    if not text.isascii():
        return names().search(small) is not None
    return any(word in small and pattern.search(small) for word, pattern in _by_longest_word().items())


@cache
def _by_longest_word() -> dict[str, re.Pattern[str]]:
    table: dict[str, list[str]] = {}
    for name in filter(str.isascii, " ".join(PATTERNS.tables["foreign_names"].values()).split()):
        table.setdefault(max(name.split("_"), key=len), []).append(name.replace("_", "[ _'’-]?"))
    return {word: re.compile("|".join(each)) for word, each in table.items()}
