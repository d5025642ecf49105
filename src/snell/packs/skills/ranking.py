"""
Rank the skills for a prompt.

A skill's name, also as a plural or another word for its file format, or one of its declared triggers in the prompt is a
clear match. Words of its description count by how rare they are among all skills, and several of them are needed: one
common word is no reason, unless the prompt asks to create just that. A skill that disables invocation by the model
needs its name.

Chinese, Japanese, Thai and similar languages have no blanks between words, and Korean attaches particles to them. There
a phrase may be anywhere, and pairs of letters are used as words.
"""

import math
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from msgspec import Struct

from snell.settings.skill_files import Skill
from snell.system.lazy_regex import lazy_regex

ENOUGH = 1.0
NAME, TRIGGER = 2.0, 1.5
WORD, PAIR = 0.6, 0.5
SHORTEST = 4  # letters of a word without its ending
STOP_WORDS = frozenset(Path(__file__).with_name("stop_words.txt").read_text(encoding="utf-8").split())
LONGEST = 20_000
RARE = WORD / 2  # what the word for a thing to create must weigh
# Other words for a format, in prompts and in the names of skills; those for prompts are longer than four letters.
OTHER_WORDS = {
    "pdf": ("pdfs",),
    "docx": ("doc", "word", "word document"),
    "pptx": ("ppt", "powerpoint", "slides", "presentation", "slide deck"),
    "xlsx": ("xls", "excel", "spreadsheet", "workbook"),
}
_CREATES = lazy_regex(
    r" (?:create|make|build|generate|produce|prepare|draft|design)(?: (?:me|us|an?|the|some|my|our|new|simple|small))*"
    r" ([\w+#-]+)(?: ([\w+#-]+))?"
)
_ASCII = lazy_regex(r"[a-z0-9][a-z0-9+#-]*")
# Thai and Lao, Burmese and the parts of Hangul, Khmer, kana, Han, Hangul, and the further planes of Han.
_NO_BLANKS = (
    "\u0e00-\u0eff\u1000-\u11ff\u1780-\u17ff\u3040-\u31ff\u3400-\u9fff"
    "\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff"
)
_RUN = lazy_regex(f"[{_NO_BLANKS}]+")
_GRAMMAR = lazy_regex(r"[\u3040-\u309f]+")  # hiragana: endings and particles, hardly ever the subject of a text


class Ranked(Struct, frozen=True):
    skill: Skill
    score: float
    because: tuple[str, ...]


def rank_skills(prompt: str, skills: Sequence[Skill], triggers: Mapping[str, Any] | None = None) -> list[Ranked]:
    """Return the skills with anything in common with the prompt, best first."""
    text = _pad_words(prompt)
    words = {_stem(word) for word in text.split()} | _pairs(text)
    made = {_stem(word) for found in _CREATES.findall(text) for word in found if word}
    asked, rarity = _Asked(text, words, made), _rarity(skills)
    own = {name: tuple(map(str, each)) for name, each in (triggers or {}).items() if isinstance(each, list)}
    scored = (_score(skill, asked, rarity, own.get(skill.name)) for skill in skills)
    return sorted((each for each in scored if each.score > 0), key=lambda each: (-each.score, each.skill.name))


def select_skills(found: Sequence[Ranked], most: int) -> list[Ranked]:
    """Return those that the prompt clearly asks for."""
    return [each for each in found if each.score >= ENOUGH][: max(0, most)]


class _Asked(Struct, frozen=True):
    """A prompt: its padded words, their stems, and the stems of what it asks to create."""

    text: str
    words: set[str]
    made: set[str]


def _score(skill: Skill, asked: _Asked, rarity: Mapping[str, float], own: tuple[str, ...] | None) -> Ranked:
    """Rank one skill; `own` are the user's triggers for it, which replace its own and the words of its description."""
    because, score, text = [], 0.0, asked.text
    if any(_contains(text, form) or _contains(text, f"{form.rstrip()}s") for form in _forms_of_name(skill.name)):
        score += NAME
        because.append(f"name `{skill.name}`")
    if skill.is_by_name and not score:
        return Ranked(skill, 0.0, ())
    for trigger in skill.triggers if own is None else own:
        if _contains(text, _pad_words(trigger)):
            score += TRIGGER
            because.append(f"trigger `{trigger}`")
    common = asked.words & (_words(skill.description) | _words(skill.name)) if own is None else set()
    weight = sum(rarity.get(word, 0.0) for word in common)
    creates = any(rarity.get(word, 0.0) >= RARE for word in common & asked.made)
    if weight and (score or creates or len(common) > 1):
        score += weight + (ENOUGH if creates else 0.0)
        because.append(f"words {', '.join(sorted(common)[:6])}")
    return Ranked(skill, round(score, 3), tuple(because))


@lru_cache(maxsize=2_000)
def _forms_of_name(name: str) -> tuple[str, ...]:
    """Return a skill's name, its singular, and other words for the format that the name consists of, all padded."""
    parts = _parts(name)
    one = "" if parts.endswith(("ss ", "us ", "is ")) else _cut(parts.strip(), "s")
    forms = {parts, _pad_words(name), f" {one} " if one else parts} if parts.strip() not in STOP_WORDS else set()
    for format_, others in OTHER_WORDS.items():
        if parts.strip() in (format_, *others, f"{others[-1]}s"):
            forms |= {f" {word} " for word in (format_, *others) if len(word) > SHORTEST}
    return tuple(sorted(forms))


def _rarity(skills: Sequence[Skill]) -> dict[str, float]:
    """Return the weight of each word: high if few skills have it, none if all have it."""
    number = Counter(word for skill in skills for word in _words(skill.description) | _words(skill.name))
    total = max(len(skills), 4)
    return {
        word: (WORD if _has_blanks(word) else PAIR) * max(0.0, 1 - math.log1p(count - 1) / math.log1p(total))
        for word, count in number.items()
    }


@lru_cache(maxsize=2_000)
def _words(text: str) -> frozenset[str]:
    found = _parts(text)
    long_enough = {_stem(word) for word in found.split() if len(word) >= 4 and _has_blanks(word)}
    return frozenset((long_enough | _pairs(found)) - _STOPPED)


def _parts(text: str) -> str:
    """Return the padded words of a text, with those that a hyphen or an underscore joins taken apart."""
    return _pad_words(text.replace("-", " ").replace("_", " "))


@lru_cache(maxsize=20_000)
def _stem(word: str) -> str:
    """Return the word without common endings: `migrates`, `migrating`, `migration` and `migrate` are one word."""
    if not word.isascii():
        return word
    word = _cut(word, "ies", "y") or ("" if word.endswith(("ss", "us", "is")) else _cut(word, "s")) or word
    word = _cut(word, "ing") or _cut(word, "ied", "y") or _cut(word, "ed") or _cut(word, "ion") or word
    if len(word) > SHORTEST and word[-1] == word[-2] and word[-1] in "bdgmnprt":
        return word[:-1]  # planning, stopped
    return _cut(word, "e") or word


def _cut(word: str, ending: str, other: str = "") -> str:
    """Return the word without its ending, or with another; empty if too little would be left."""
    is_long = len(word) - len(ending) + len(other) >= SHORTEST
    return word[: -len(ending)] + other if is_long and word.endswith(ending) else ""


_STOPPED = STOP_WORDS | {_stem(word) for word in STOP_WORDS}


def _pad_words(text: str) -> str:
    """Return the words of a text in lower case, each with a blank before and after it."""
    text = unicodedata.normalize("NFKC", text[:LONGEST]).casefold()
    if not text.isascii():
        # Vowel signs are marks; without them a word of Hindi or Thai would be split.
        kept = (each.isalnum() or each in "+#-" or unicodedata.category(each)[0] == "M" for each in text)
        text = "".join(each if keep else " " for each, keep in zip(text, kept, strict=True))
        text = _RUN.sub(lambda run: f" {run[0]} ", text)
        return f" {' '.join(word.lstrip('+#-') for word in text.split() if word.strip('+#-'))} "
    return f" {' '.join(_ASCII.findall(text))} "


def _contains(text: str, phrase: str) -> bool:
    """Whether a phrase is in a text, both from `_pad_words`. Languages with endings may add some to the last word."""
    phrase = phrase.strip()
    if not phrase:
        return False
    before = "" if _RUN.match(phrase[0]) else " "
    after = " " if phrase[-1].isascii() else ""
    return f"{before}{phrase}{after}" in text


def _pairs(text: str) -> set[str]:
    """Return pairs of letters of words without blanks; `text` is from `_pad_words`."""
    if text.isascii():
        return set()
    runs = _RUN.findall(text)
    found = {run[at : at + 2] for run in runs for at in range(len(run) - 1)}
    return {pair for pair in found if not _GRAMMAR.fullmatch(pair)}


def _has_blanks(word: str) -> bool:
    """Whether this is a word of a language that puts blanks between words."""
    return word.isascii() or not _RUN.search(word)
