"""
Decide whether two similar texts say the same.

Nearly the same words with another number, another name or a `not` are a correction, not a repetition. So similar texts
count as the same only if numbers, names, negations and contrasts agree, and if no content word was replaced by
another.
"""

import re
from functools import lru_cache

from msgspec import Struct

from snell.llm.embeddings.stems import STOP_WORDS, stem

LONGEST = 20_000  # characters that are compared

_WORD = re.compile(r"-{0,2}[^\W_](?:[\w.:/@#+%'-]*[\w+#%])?|[<>=!~^]=?(?=\s*\d)|_[\w.]+")
_SPECIAL = re.compile(r"\d|[_/@#%+:]|\w\.\w|[a-z][A-Z]|[A-Z]{2}|^-|^[<>=!~^]")
_QUOTED = re.compile(r"`([^`\n]{1,80})`")
_COUNTED = "zero one two three four five six seven eight nine ten eleven twelve"
_NUMBERS = {name: str(number) for number, name in enumerate(_COUNTED.split()) if name != "one"}  # rarely a number
_DENIALS = "not no never cannot without none neither nor nothing nobody hardly avoid stop disallow forbid forbidden"
_DENIES = frozenset(_DENIALS.split())
_CONTRASTS = "instead rather over before after than versus vs unless until"
_CONTRASTING = frozenset(_CONTRASTS.split())
# How a statement is phrased; another word of these changes nothing.
_PHRASING = (
    "decide decided decision choose chose chosen pick picked select selected settle settled agree agreed adopt went"
    " note noted remember important reminder please should must always now currently today really simply basically"
    " actually finally team project since because therefore thus hence want wanted like prefer make sure use used"
    " using keep see look found find turned turns said says tell"
)
_FRAME = frozenset(stem(word) for word in _PHRASING.split())


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
    kinds = [frozenset(map(_kind, each)) for each in changed]
    if a.telling != b.telling or kinds[0] != kinds[1] or agree(new, old):
        return False
    return bool(_SAYS_CHANGED.search(new)) or (kinds[0] <= {"number"} and _are_values(new, changed[0]))


@lru_cache(maxsize=256)
def details_of(text: str) -> Details:
    text = text[:LONGEST]
    quoted = {each.lower() for match in _QUOTED.finditer(text) for each in _WORD.findall(match.group(1))}
    words = [_NUMBERS.get(each.lower(), each) for each in _WORD.findall(text)]
    lowered = [_plain(each) for each in words]
    special = {low for word, low in zip(words, lowered, strict=True) if low in quoted or _SPECIAL.search(word[:200])}
    return Details(
        frozenset(lowered),
        frozenset(special),
        frozenset(stem(each) for each in lowered if each not in special and _is_telling(each)),
        frozenset(_next(lowered, at) for at, each in enumerate(lowered) if each in _DENIES),
        frozenset(
            (each, _before(lowered, at), _next(lowered, at)) for at, each in enumerate(lowered) if each in _CONTRASTING
        ),
    )


def _plain(word: str) -> str:
    """Return the word in lower case; `don't` is a `not`."""
    low = word.lower().removesuffix("'s")
    return "not" if low.endswith("n't") or low in ("cant", "dont", "wont") else low


def _is_telling(word: str) -> bool:
    return word not in STOP_WORDS and word not in _DENIES and word not in _CONTRASTING and stem(word) not in _FRAME


def _next(words: list[str], at: int) -> str:
    return next((stem(each) for each in words[at + 1 : at + 8] if each not in _FILLERS), "")


def _before(words: list[str], at: int) -> str:
    return next((stem(each) for each in reversed(words[max(0, at - 8) : at]) if each not in _FILLERS), "")


_FILLERS = (STOP_WORDS - {"use", "used", "uses", "using"}) | _DENIES | _CONTRASTING


_SAYS_CHANGED = re.compile(
    r"\b(?:no longer|not any ?more|instead|now|(?:changed|moved|renamed|updated|raised|lowered|switched) (?:from|to)"
    r"|correct(?:ion|ed)|as of)\b",
    re.IGNORECASE,
)
_PLAIN_NUMBER = re.compile(r"[<>=!~^]*v?\d[\d.,:]*[a-z%]{0,3}\Z")
_SENTENCE = re.compile(r"[.;!?]\s")
# Between the subject of a text and what it states.
_LINK = "is are was were be has have had of on in at to from with by for"
_LINKS = frozenset(_LINK.split())
_CONDITIONS = frozenset({"if", "when", "whenever", "where", "while"})
_NUMBERED_NOUNS = (  # a number after one of these is part of a name
    "code error status exit issue ticket bug pr request rfc cve step line row column page case rule migration sprint"
    " phase task id number shard node replica room floor gate dock chapter section table figure question"
)
_UNIT = re.compile(r"[a-z]{3,}s\Z|(?:percent|[kmg]i?b|ms|s|h|min|sec|times?|px)\Z", re.IGNORECASE)  # `5 times`
_NAMED_BY_NUMBER = frozenset(_NUMBERED_NOUNS.split())


def _kind(word: str) -> str:
    return "number" if _PLAIN_NUMBER.match(word) else "name"


def _are_values(text: str, changed: frozenset[str]) -> bool:
    """Whether each changed number is a value of a thing named before it, not part of the thing's name."""
    for sentence in _SENTENCE.split(text[:LONGEST]):
        words = [_plain(_NUMBERS.get(each.lower(), each)) for each in _WORD.findall(sentence)]
        if not all(_is_value(words[:at], words[at + 1 :]) for at, each in enumerate(words) if each in changed):
            return False
    return True


def _is_value(before: list[str], after: list[str]) -> bool:
    if not before or before[-1] in _NAMED_BY_NUMBER or _CONDITIONS.intersection(before):
        return False
    subject = next((at for at, each in enumerate(before) if _is_telling(each)), len(before))
    is_counted = bool(after) and _UNIT.match(after[0]) is not None and subject < len(before)
    return is_counted or any(each in _LINKS for each in before[subject:])
