"""
Rank the skills for a prompt.

A skill's name or one of its declared triggers in the prompt is a clear match. Words of its description count by how
rare they are among all skills, and several of them are needed: one common word is no reason. A skill that disables
invocation by the model needs its name.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from msgspec import Struct

from snell.packs.skills.skill_files import Skill
from snell.packs.skills.words import contains, has_blanks, pad_words, pairs

ENOUGH = 1.0
NAME, TRIGGER = 2.0, 1.5
WORD, PAIR = 0.6, 0.5
SHORTEST = 4  # letters of a word without its ending
STOP_WORDS = frozenset(
    (
        "with", "when", "from", "this", "that", "your", "user", "users", "using", "used", "uses", "skill", "skills",
        "file", "files", "create", "make", "work", "working", "need", "needs", "want", "wants", "asks", "about", "into",
        "them", "they", "these", "those", "should", "would", "will", "which", "what", "where", "while", "have", "help",
        "also", "such", "like", "and", "the", "for", "any", "all", "new", "code", "project", "task", "tasks", "other",
        "please", "some", "more", "than", "then", "each", "does", "doing", "done", "very", "just", "only", "over",
        "write", "read", "change", "changes", "update", "look", "show", "give", "tell", "there", "here", "thing",
        "使用", "一个", "这个", "那个", "文件", "创建", "用户", "需要", "可以", "进行", "代码", "项目", "我们", "如何",
        "什么", "帮我", "時候", "時に", "場合", "使う", "作る", "作成", "파일", "사용", "하는", "하세", "해줘", "니다",
        "합니", "습니",
    )
)  # fmt: skip


class Ranked(Struct, frozen=True):
    skill: Skill
    score: float
    because: tuple[str, ...]


def rank_skills(prompt: str, skills: Sequence[Skill], triggers: Mapping[str, Any] | None = None) -> list[Ranked]:
    """Return the skills with anything in common with the prompt, best first."""
    text = pad_words(prompt)
    words = {_stem(word) for word in text.split()} | pairs(text)
    rarity = _rarity(skills)
    scored = (_score(skill, text, words, rarity, _triggers(skill, triggers or {})) for skill in skills)
    return sorted((each for each in scored if each.score > 0), key=lambda each: (-each.score, each.skill.name))


def select_skills(found: Sequence[Ranked], most: int) -> list[Ranked]:
    """Return those that the prompt clearly asks for."""
    return [each for each in found if each.score >= ENOUGH][: max(0, most)]


def _score(skill: Skill, text: str, words: set[str], rarity: Mapping[str, float], triggers: tuple[str, ...]) -> Ranked:
    because = []
    score = 0.0
    name = _parts(skill.name)
    if name.strip() not in STOP_WORDS and (contains(text, name) or contains(text, pad_words(skill.name))):
        score += NAME
        because.append(f"name `{skill.name}`")
    if skill.is_by_name and not score:
        return Ranked(skill, 0.0, ())
    for trigger in triggers:
        if contains(text, pad_words(trigger)):
            score += TRIGGER
            because.append(f"trigger `{trigger}`")
    common = words & (_words(skill.description) | _words(skill.name))
    weight = sum(rarity.get(word, 0.0) for word in common)
    if weight and (score or len(common) > 1):
        score += weight
        because.append(f"words {', '.join(sorted(common)[:6])}")
    return Ranked(skill, round(score, 3), tuple(because))


def _triggers(skill: Skill, overrides: Mapping[str, Any]) -> tuple[str, ...]:
    own = overrides.get(skill.name)
    return tuple(str(each) for each in own) if isinstance(own, list) else skill.triggers


def _rarity(skills: Sequence[Skill]) -> dict[str, float]:
    """Return the weight of each word: high if few skills have it, none if all have it."""
    number = Counter(word for skill in skills for word in _words(skill.description) | _words(skill.name))
    total = max(len(skills), 4)
    return {
        word: (WORD if has_blanks(word) else PAIR) * max(0.0, 1 - math.log1p(count - 1) / math.log1p(total))
        for word, count in number.items()
    }


@lru_cache(maxsize=2_000)
def _words(text: str) -> frozenset[str]:
    found = _parts(text)
    long_enough = {_stem(word) for word in found.split() if len(word) >= 4 and has_blanks(word)}
    return frozenset((long_enough | pairs(found)) - _STOPPED)


def _parts(text: str) -> str:
    """Return the padded words of a text, with those that a hyphen or an underscore joins taken apart."""
    return pad_words(text.replace("-", " ").replace("_", " "))


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
