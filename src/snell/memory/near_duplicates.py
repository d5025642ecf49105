"""
Decide whether two similar texts say the same.

Nearly the same words with another number, another name or a `not` are a correction, not a repetition. So similar texts
count as the same only if numbers, names, negations and contrasts agree, and if no content word was replaced by
another.
"""

from functools import lru_cache

from msgspec import Struct

from snell.llm.embeddings.stems import STOP_WORDS, stem
from snell.redact.pattern_file import patterns_of

PATTERNS = patterns_of("memory")
LONGEST = 20_000  # characters that are compared

_COUNTED = "zero one two three four five six seven eight nine ten eleven twelve"
_NUMBERS = {name: str(number) for number, name in enumerate(_COUNTED.split()) if name != "one"}  # rarely a number
_DENIES, _CONTRASTING, _LINKS, _CONDITIONS, _NAMED_BY_NUMBER = (
    frozenset(PATTERNS.words(name)) for name in ("denials", "contrasts", "links", "conditions", "numbered_nouns")
)
_FRAME = frozenset(map(stem, PATTERNS.words("phrasing")))


class Details(Struct, frozen=True):
    words: frozenset[str]  # all of them
    special: frozenset[str]  # numbers, versions, identifiers, paths, flags
    telling: frozenset[str]  # the other content words
    denied: frozenset[str]  # the words after a `not`
    against: frozenset[tuple[str, ...]]  # contrasts: `uv instead of pip`


def agree(one: str, other: str) -> bool:
    """Whether these similar texts say the same."""
    a, b = details_of(one), details_of(other)
    if not a.special <= b.words or not b.special <= a.words or a.denied != b.denied or a.against != b.against:
        return False
    return not (a.telling - b.telling and b.telling - a.telling)


def corrects(new: str, old: str) -> bool:
    """
    Return whether the new text is about the same subject as the old one, with another number or the opposite statement.

    A different identifier or path means a different subject, and so does a number that is part of a name
    (`error 4201`), unless the new text says itself that something changed.
    """
    a, b = details_of(new), details_of(old)
    changed = a.special - b.words, b.special - a.words
    kinds = [frozenset("number" if PATTERNS.plain_number.match(word) else "name" for word in each) for each in changed]
    if a.telling != b.telling or kinds[0] != kinds[1] or agree(new, old):
        return False
    return bool(PATTERNS.says_changed.search(new)) or (kinds[0] <= {"number"} and _are_values(new, changed[0]))


@lru_cache(maxsize=256)
def details_of(text: str) -> Details:
    text = text[:LONGEST]
    quotes = PATTERNS.quoted_detail.findall(text)
    quoted = {each.lower() for quote in quotes for each in PATTERNS.detail.findall(quote)}
    words = [_NUMBERS.get(each.lower(), each) for each in PATTERNS.detail.findall(text)]
    lowered = [_plain(each) for each in words]
    pairs = zip(words, lowered, strict=True)
    special = {low for word, low in pairs if low in quoted or PATTERNS.special_detail.search(word[:200])}
    return Details(
        frozenset(lowered),
        frozenset(special),
        frozenset(stem(each) for each in lowered if each not in special and _is_telling(each)),
        frozenset(_next(lowered, at) for at, each in enumerate(lowered) if each in _DENIES),
        frozenset((each, *_around(lowered, at)) for at, each in enumerate(lowered) if each in _CONTRASTING),
    )


def _plain(word: str) -> str:
    """Return the word in lower case; `don't` is a `not`."""
    low = word.lower().removesuffix("'s")
    return "not" if low.endswith("n't") or low in ("cant", "dont", "wont") else low


def _is_telling(word: str) -> bool:
    return word not in STOP_WORDS and word not in _DENIES and word not in _CONTRASTING and stem(word) not in _FRAME


def _next(words: list[str], at: int) -> str:
    return next((stem(each) for each in words[at + 1 : at + 8] if each not in _FILLERS), "")


def _around(words: list[str], at: int) -> tuple[str, str]:
    before = reversed(words[max(0, at - 8) : at])
    return next((stem(each) for each in before if each not in _FILLERS), ""), _next(words, at)


_FILLERS = (STOP_WORDS - {"use", "used", "uses", "using"}) | _DENIES | _CONTRASTING


def _are_values(text: str, changed: frozenset[str]) -> bool:
    """Whether each changed number is a value of a thing named before it, not part of the thing's name."""
    for sentence in PATTERNS.detail_sentence_end.split(text[:LONGEST]):
        words = [_plain(_NUMBERS.get(each.lower(), each)) for each in PATTERNS.detail.findall(sentence)]
        if not all(_is_value(words[:at], words[at + 1 :]) for at, each in enumerate(words) if each in changed):
            return False
    return True


def _is_value(before: list[str], after: list[str]) -> bool:
    if not before or before[-1] in _NAMED_BY_NUMBER or _CONDITIONS.intersection(before):
        return False
    subject = next((at for at, each in enumerate(before) if _is_telling(each)), len(before))
    is_counted = bool(after) and PATTERNS.unit.match(after[0]) is not None and subject < len(before)
    return is_counted or any(each in _LINKS for each in before[subject:])
