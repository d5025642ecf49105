"""
Do two texts that look alike say the same?

Nearly the same words with another number, another name or a `not` are a correction, not a repetition. So what looks
alike counts as the same only where numbers, names, what is denied and what is set against what agree, and where no
word of weight was put in the place of another.
"""

import re
from functools import lru_cache

from msgspec import Struct

from snell.memory.words import STOP_WORDS, stem

LONGEST = 20_000  # characters that are compared

_WORD = re.compile(r"-{0,2}[^\W_](?:[\w.:/@#+%'-]*[\w+#%])?|[<>=!~^]=?(?=\s*\d)|_[\w.]+")
_SPECIAL = re.compile(r"\d|[_/@#%+:]|\w\.\w|[a-z][A-Z]|[A-Z]{2}|^-|^[<>=!~^]")
_QUOTED = re.compile(r"`([^`\n]{1,80})`")
_COUNTED = "zero one two three four five six seven eight nine ten eleven twelve"
_NUMBERS = {name: str(number) for number, name in enumerate(_COUNTED.split()) if name != "one"}  # rarely a number
_DENIALS = "not no never cannot without none neither nor nothing nobody hardly avoid stop disallow forbid forbidden"
_DENIES = frozenset(_DENIALS.split())
_CONTRASTS = "instead rather over before after than versus vs unless until"
_AGAINST = frozenset(_CONTRASTS.split())
# How a thing is said; another word here says nothing else.
_SAYING = (
    "decide decided decision choose chose chosen pick picked select selected settle settled agree agreed adopt went"
    " note noted remember important reminder please should must always now currently today really simply basically"
    " actually finally team project since because therefore thus hence want wanted like prefer make sure use used"
    " using keep see look found find turned turns said says tell"
)
_FRAME = frozenset(stem(word) for word in _SAYING.split())


class Particulars(Struct, frozen=True):
    words: frozenset[str]  # all of them
    special: frozenset[str]  # numbers, versions, identifiers, paths, flags
    telling: frozenset[str]  # the other words of weight
    denied: frozenset[str]  # what comes after a `not`
    against: frozenset[tuple[str, ...]]  # what is set against what: `uv instead of pip`


def agree(one: str, other: str) -> bool:
    """Whether these texts, which look alike, say the same."""
    a, b = particulars(one), particulars(other)
    if not a.special <= b.words or not b.special <= a.words or a.denied != b.denied or a.against != b.against:
        return False
    return not (a.telling - b.telling and b.telling - a.telling)


def corrects(new: str, old: str) -> bool:
    """Whether the new text is about the very same thing as the old one, with another number or the other way round."""
    a, b = particulars(new), particulars(old)
    kinds = [frozenset(map(_kind, each)) for each in (a.special - b.words, b.special - a.words)]
    return a.telling == b.telling and not agree(new, old) and kinds[0] == kinds[1] <= {"number"}


@lru_cache(maxsize=256)
def particulars(text: str) -> Particulars:
    text = text[:LONGEST]
    quoted = {each.lower() for match in _QUOTED.finditer(text) for each in _WORD.findall(match.group(1))}
    words = [_NUMBERS.get(each.lower(), each) for each in _WORD.findall(text)]
    lowered = [_plain(each) for each in words]
    special = {low for word, low in zip(words, lowered, strict=True) if low in quoted or _SPECIAL.search(word[:200])}
    return Particulars(
        frozenset(lowered),
        frozenset(special),
        frozenset(stem(each) for each in lowered if each not in special and _is_telling(each)),
        frozenset(_next(lowered, at) for at, each in enumerate(lowered) if each in _DENIES),
        frozenset(
            (each, _before(lowered, at), _next(lowered, at)) for at, each in enumerate(lowered) if each in _AGAINST
        ),
    )


def _plain(word: str) -> str:
    """In lower case; `don't` is a `not`."""
    low = word.lower().removesuffix("'s")
    return "not" if low.endswith("n't") or low in ("cant", "dont", "wont") else low


def _is_telling(word: str) -> bool:
    return word not in STOP_WORDS and word not in _DENIES and word not in _AGAINST and stem(word) not in _FRAME


def _next(words: list[str], at: int) -> str:
    return next((stem(each) for each in words[at + 1 : at + 8] if each not in _FILLERS), "")


def _before(words: list[str], at: int) -> str:
    return next((stem(each) for each in reversed(words[max(0, at - 8) : at]) if each not in _FILLERS), "")


_FILLERS = (STOP_WORDS - {"use", "used", "uses", "using"}) | _DENIES | _AGAINST


def _kind(word: str) -> str:
    return "number" if any(each.isdigit() for each in word) else "name"
