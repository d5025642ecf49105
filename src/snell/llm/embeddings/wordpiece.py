"""Tokenize a text for a BERT model: words in lower case without accents, cut into the longest known pieces."""

import unicodedata
from collections.abc import Mapping
from functools import lru_cache

LONGEST_WORD = 100  # characters; a longer one is unknown to the model
LONGEST_TEXT = 8_000  # characters that are looked at; far more than a model reads

_IDEOGRAPHS = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F), (0x2B820, 0x2CEAF),
    (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip


class WordPieces:
    """The vocabulary of one model: piece -> number. A piece inside a word begins with `##`."""

    def __init__(self, vocabulary: Mapping[str, int], *, is_lower: bool = True) -> None:
        self._known = vocabulary
        self._is_lower = is_lower
        self._first, self._last = vocabulary["[CLS]"], vocabulary["[SEP]"]
        self._unknown = vocabulary["[UNK]"]
        self._pieces_of = lru_cache(maxsize=20_000)(self._cut)

    def numbers(self, text: str, most: int) -> list[int]:
        """Return the numbers of the pieces, at most `most`, with the marks for the beginning and the end."""
        found: list[int] = []
        for word in words(text[:LONGEST_TEXT], is_lower=self._is_lower):
            found += self._pieces_of(word)
            if len(found) > most - 2:
                break
        return [self._first, *found[: most - 2], self._last]

    def _cut(self, word: str) -> tuple[int, ...]:
        if len(word) > LONGEST_WORD:
            return (self._unknown,)
        found, begin = [], 0
        while begin < len(word):
            lead = "##" if begin else ""
            ends = range(len(word), begin, -1)
            end = next((end for end in ends if lead + word[begin:end] in self._known), 0)
            if not end:
                return (self._unknown,)
            found.append(self._known[lead + word[begin:end]])
            begin = end
        return tuple(found)


def words(text: str, *, is_lower: bool = True) -> list[str]:
    """Split a text into words, punctuation marks and ideographs."""
    if is_lower:
        parts = unicodedata.normalize("NFD", text.lower())
        text = "".join(each for each in parts if each <= "\x7f" or unicodedata.category(each) != "Mn")
    return "".join(map(_with_spaces, text)).split()


@lru_cache(maxsize=4_096)
def _with_spaces(character: str) -> str:
    """Return a character with spaces around it where it separates words."""
    if character.isalnum() and character < "\u3000":
        return character
    if character in "\t\n\r":
        return " "
    kind = unicodedata.category(character)
    if character in "\0\ufffd" or kind in ("Cc", "Cf", "Cs", "Co", "Cn"):
        return ""
    if kind == "Zs":
        return " "
    is_sign = kind.startswith("P") or (character.isascii() and not character.isalnum())
    is_ideograph = any(first <= ord(character) <= last for first, last in _IDEOGRAPHS)
    return f" {character} " if is_sign or is_ideograph else character
