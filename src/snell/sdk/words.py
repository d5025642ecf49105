"""Words of a text, negations, and typing mistakes: for routes and skills that react to what a user types."""

import re
from collections import Counter
from collections.abc import Iterator

from msgspec import Struct

from snell.model.tool_names import name_set
from snell.system.lazy_regex import lazy_regex

_FENCED = lazy_regex(r"```.*?(?:```|\Z)|`[^`\n]*`|https?://\S+", re.DOTALL)
_WORD = lazy_regex(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
# Glued to one of these, a word is part of a path, a flag, an identifier or an address.
_GLUE_BEFORE = "/\\_.@#$-~+="
_GLUE_AFTER = "/\\_@=+(:"
_NEGATIONS = name_set(
    "not never no nor without avoid stop cannot nothing nobody none skip refrain dont doesnt didnt isnt wont wouldnt"
    " shouldnt cant couldnt"
)
_NEGATION_PAIRS = frozenset((("rather", "than"), ("instead", "of")))
# "don't forget to ship it" asks for it, and so does "don't stop until", "not only build", "never mind, ship it".
_CANCELS_NEGATION = frozenset(("forget", "hesitate", "fail", "stop", "only", "mind", "problem"))
_NOT_DENIED = frozenset((("why", "not"), ("if", "not"), ("or", "not"), ("whether", "not"), ("why", "don't")))
_NEW_CLAUSE = frozenset(("but", "so", "just", "please", "let's", "lets", "instead", "however", "otherwise", "because"))
_NEGATION_REACH = 6  # words that a negation applies to
_FAR = _NEGATION_REACH + 1


class Token(Struct, frozen=True):
    """One word of a text."""

    text: str  # in lower case
    is_negated: bool = False
    ends: str = ""  # the mark that follows it: a comma, or the end of a sentence


def tokenize(text: str) -> Iterator[Token]:
    """Yield the words of a text in order, without code, paths, flags and addresses."""
    negation = _Negation()
    text = _FENCED.sub(" ", text)
    for found in _WORD.finditer(text):
        word = found[0].lower().replace("’", "'")
        mark = _MARK.match(text, found.end())
        ends = (mark[1] or "\n") if mark else ""
        negation.add(word)
        if not _is_glued(text, found.start(), found.end()):
            yield Token(word, negation.is_on, ends)
        negation.add_mark(ends, text, found.end())


class _Negation:
    """Tracks which words are negated."""

    def __init__(self) -> None:
        self._since = _FAR
        self._before = ""
        self._word = ""
        self._is_aside = False  # between the commas of "do not, under any circumstances, ship"

    @property
    def is_on(self) -> bool:
        return 0 < self._since <= _NEGATION_REACH

    def add(self, word: str) -> None:
        self._before, self._word = self._word, word
        pair = (self._before, word)
        if word in (_CANCELS_NEGATION if self._since == 0 else _NEW_CLAUSE):
            self._since = _FAR
        elif word in _NEGATIONS or word.endswith("n't") or pair in _NEGATION_PAIRS:
            self._since = _FAR if pair in _NOT_DENIED else 0
        elif self._since <= _NEGATION_REACH and not self._is_aside:
            self._since += 1

    def add_mark(self, mark: str, text: str, at: int) -> None:
        """End the negation at a mark, unless it only interrupts the sentence or continues a list."""
        if mark != ",":
            self._since = _FAR if mark else self._since
            self._is_aside = self._is_aside and not mark
        elif self._is_aside:
            self._is_aside, self._since = False, 0
        elif self._since == 0 and self._word not in ("no", "none", "nothing"):
            self._is_aside = bool(_ASIDE.match(text, at))
            self._since = 0 if self._is_aside or _EVER.match(text, at) else _FAR
        elif not (self.is_on and _LIST.match(text, at)):
            self._since = _FAR


_MARK = lazy_regex(r"""["')\]]*(?:([.;,!?:])(?=\s|$|["')])|\s+[-–—]+\s|\s*\(|[ \t]*\n)""")
_ASIDE = lazy_regex(r"\s*,[^.;!?\n,]{1,60},")
_EVER = lazy_regex(r"\s*,\s*ever\b", re.IGNORECASE)
_LIST = lazy_regex(r",\s*\w{1,30}(?:\s*,\s*\w{1,30}){0,8}\s*,?\s+(?:or|nor)\s")


def _is_glued(text: str, start: int, end: int) -> bool:
    before, after, beyond = text[start - 1 : start], text[end : end + 1], text[end + 1 : end + 2]
    if before and (before in _GLUE_BEFORE or before.isalnum()):
        return True
    if after and after in _GLUE_AFTER:
        return not (after == ":" and not beyond.strip())
    return (after in (".", "-", "'") and beyond.isalnum()) or after.isalnum()


def distance(one: str, other: str, limit: int) -> int:
    """
    Return how many letters to change, add, remove or swap with their neighbour to turn one word into the other.

    Anything above the limit is returned as limit + 1.
    """
    if abs(len(one) - len(other)) > limit:
        return limit + 1
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        last, row = row, [i]
        for j, wanted in enumerate(other, 1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (letter != wanted))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == wanted:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        if min(row) > limit:
            return limit + 1
        before = last
    return row[-1]


def is_typo_of(word: str, keyword: str) -> bool:
    """
    Return whether this word is probably the keyword, mistyped. Never for short words; the first letter is rarely wrong.

    The caller must check that the word is not a real one that merely looks similar.
    """
    if len(word) < 4 or len(keyword) < 4 or word == keyword:
        return False
    limit = 1 if len(keyword) <= 5 else 2
    if abs(len(word) - len(keyword)) > limit or (word[0] != keyword[0] and sorted(word[:2]) != sorted(keyword[:2])):
        return False
    found = distance(word, keyword, limit)
    return found == 1 or (found == 2 == limit and len(word) >= 6 and _strange_letters(word, keyword) <= 2)


def _strange_letters(word: str, keyword: str) -> int:
    """Count letters that only one of them has: two different ones make another word, as `remind` for `refine`."""
    one, other = Counter(word), Counter(keyword)
    return (one - other).total() + (other - one).total()
