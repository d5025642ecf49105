"""Rewrite names of secrets in other languages, such as `senha` and `密码`, to English, so that they are recognised."""

import re
from collections.abc import Iterator
from functools import cache
from unicodedata import combining, normalize

from snell.redact.normalise import Piece, View
from snell.redact.pattern_file import PATTERNS, any_of

_SHORT_WORD = 4  # characters of `_db`
_IDEOGRAPHS = "[\u4e00-\u9fff]{0,6}"  # words before a name, which no space separates
_ENDING = "[a-zà-ž]{0,3}"  # `Passordet`, `parolası`
_LETTERS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "ł": "l", "ı": "i"})


def in_english(text: str) -> View:
    """Return the text with each of these names in English."""
    pieces = list(_pieces(text))
    return View("".join(piece for piece, _, _ in pieces), lambda: pieces)


def _pieces(text: str) -> Iterator[Piece]:
    last = 0
    for found in names().finditer(text):
        start, end = found.span()
        yield text[last:start], last, start - last
        # `senha_banco` is a password, `senha_invalida` a message: after another word the value has to look like one.
        is_plain = len(found["follows"] or "") <= _SHORT_WORD or found[0].isupper()
        name = "password" if found["password"] and is_plain else "credentials" if found["credentials"] else "secretkey"
        same_case = str.upper if found[0].isupper() else str.capitalize if found[0][0].isupper() else str.lower
        yield same_case(name), start, end - start
        last = end
    yield text[last:], last, len(text) - last


@cache
def names() -> re.Pattern[str]:
    """Return the pattern of all names, each with the words that follow it: `senha_banco`, `claveAcceso`."""
    passwords, others, credentials = name_patterns()
    name = f"(?i:(?P<password>{passwords})|(?P<credentials>{credentials})|{others})"
    follows = r"(?:[_-][^\W\d_]{1,16}|(?<=[a-z])(?=[A-Z])[^\W\d_]{2,16})"
    return re.compile(f"{_IDEOGRAPHS}{name}(?P<follows>{follows}{{1,2}})?{_ENDING}(?![a-z])")


def name_patterns() -> list[str]:
    """Return the patterns of passwords, of other secrets and of users with passwords."""
    return [any_of(sorted(names)).replace("_", "[ _'’-]?") for names in _names()]


@cache
def _names() -> tuple[frozenset[str], ...]:
    """Return these names, those in Latin letters also without accents."""
    tables = (words.split() for words in PATTERNS.tables["foreign_names"].values())
    return tuple(frozenset(form for word in words for form in _forms(word)) for words in tables)


def _forms(word: str) -> set[str]:
    plain = "".join(each for each in normalize("NFD", word) if not combining(each)).translate(_LETTERS)
    return {word, *filter(str.isascii, (plain, word.translate(_LETTERS)))}


def has_name(text: str) -> bool:
    """Whether a text has one of the names, without google-re2: to search for a word is faster than for a pattern."""
    small = text.lower()
    return any(word in small and pattern.search(small) for word, pattern in _by_longest_word().items())


@cache
def _by_longest_word() -> dict[str, re.Pattern[str]]:
    table: dict[str, list[str]] = {}
    for name in frozenset().union(*_names()):
        table.setdefault(max(name.split("_"), key=len), []).append(name.replace("_", "[ _'’-]?"))
    return {word: re.compile("|".join(each)) for word, each in table.items()}
