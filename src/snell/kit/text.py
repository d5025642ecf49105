"""Words of a text, and how near one word is to another: for routes and skills that listen to what a person types."""

import re
from collections.abc import Iterator

from msgspec import Struct

from snell.kit.late_pattern import late

_FENCED = late(r"```.*?(?:```|\Z)|`[^`\n]*`|https?://\S+", re.DOTALL)
_WORD = late(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
# Glued to one of these, a word is part of a path, a flag, an identifier or an address.
_GLUE_BEFORE = "/\\_.@#$-~+="
_GLUE_AFTER = "/\\_@=+(:"
_NEGATIONS = frozenset(
    ("don't", "dont", "not", "never", "no", "without", "avoid", "stop", "cannot", "can't", "cant", "won't", "shouldn't")
)
_TURNS_ROUND = frozenset(("forget", "hesitate", "fail"))  # "don't forget to ship it" asks for it
_NEGATION_REACH = 3  # words between a negation and what it denies


class Spoken(Struct, frozen=True):
    """One word as it was said."""

    text: str  # in lower case
    is_negated: bool = False


def spoken(text: str) -> Iterator[Spoken]:
    """The words that a person says, in order: not what is quoted as code, a path, a flag or an address."""
    since_negation = _NEGATION_REACH + 1
    text = _FENCED.sub(" ", text)
    for found in _WORD.finditer(text):
        word = found[0].lower().replace("’", "'")
        if word in _NEGATIONS:
            since_negation = 0
            continue
        if since_negation == 0 and word in _TURNS_ROUND:
            since_negation = _NEGATION_REACH + 1
        since_negation += 1
        if not _is_glued(text, found.start(), found.end()):
            yield Spoken(word, since_negation <= _NEGATION_REACH)
        if text[found.end() : found.end() + 1] in (".", ";", ",", "!", "?", "\n"):
            since_negation = _NEGATION_REACH + 1  # a new clause


def _is_glued(text: str, start: int, end: int) -> bool:
    before, after, beyond = text[start - 1 : start], text[end : end + 1], text[end + 1 : end + 2]
    if before and (before in _GLUE_BEFORE or before.isalnum()):
        return True
    if after and after in _GLUE_AFTER:
        return not (after == ":" and not beyond.strip())
    return (after in (".", "-", "'") and beyond.isalnum()) or after.isalnum()


def distance(one: str, other: str, limit: int) -> int:
    """
    Letters to change, add, leave out or swap with their neighbour to make one word of the other.

    Anything above the limit is just more than the limit.
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
    Is this word probably the keyword, mistyped? Short words are never guessed at, and the first letter is rarely wrong.

    Whether the word is a real one that merely looks alike, its caller must know.
    """
    if len(word) < 4 or len(keyword) < 4 or word == keyword:
        return False
    limit = 1 if len(keyword) <= 5 else 2
    if word[0] != keyword[0] and sorted(word[:2]) != sorted(keyword[:2]):
        return False
    found = distance(word, keyword, limit)
    # Two mistakes in one word, and letters missing besides, is another word more often than a typo.
    return found == 1 or (found == 2 == limit and abs(len(word) - len(keyword)) <= 1 and len(word) >= 6)
