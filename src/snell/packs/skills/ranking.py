"""
Which skills a prompt asks for.

A skill's name or one of its declared triggers in the prompt is a clear hit. Words of its description count by how rare
they are among all skills, and several of them are needed: one common word is no reason.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from snell.kit.late_pattern import late
from snell.packs.skills.folders import Skill

ENOUGH = 1.0
NAME, TRIGGER = 2.0, 1.5
_WORD = late(r"[a-z0-9][a-z0-9+#-]*")
STOP_WORDS = frozenset(
    (
        "with", "when", "from", "this", "that", "your", "user", "users", "using", "used", "uses", "skill", "skills",
        "file", "files", "create", "make", "work", "working", "need", "needs", "want", "wants", "asks", "about", "into",
        "them", "they", "these", "those", "should", "would", "will", "which", "what", "where", "while", "have", "help",
        "also", "such", "like", "and", "the", "for", "any", "all", "new", "code", "project", "task", "tasks", "other",
        "please", "some", "more", "than", "then", "each", "does", "doing", "done", "very", "just", "only", "over",
        "write", "read", "change", "changes", "update", "look", "show", "give", "tell", "there", "here", "thing",
    )
)  # fmt: skip


class Ranked(Struct, frozen=True):
    skill: Skill
    score: float
    because: tuple[str, ...]


def ranked(prompt: str, skills: Sequence[Skill], triggers: Mapping[str, Any] | None = None) -> list[Ranked]:
    """The skills with anything in common with the prompt, best first."""
    text = f" {' '.join(_WORD.findall(prompt.lower()[:20_000]))} "
    said = {_stem(word) for word in text.split()}
    rarity = _rarity(skills)
    scored = (_scored(skill, text, said, rarity, _triggers(skill, triggers or {})) for skill in skills)
    return sorted((each for each in scored if each.score > 0), key=lambda each: (-each.score, each.skill.name))


def wanted(found: Sequence[Ranked], most: int) -> list[Ranked]:
    """Those that the prompt clearly asks for."""
    return [each for each in found if each.score >= ENOUGH][: max(0, most)]


def _scored(skill: Skill, text: str, said: set[str], rarity: Mapping[str, float], triggers: tuple[str, ...]) -> Ranked:
    because = []
    score = 0.0
    name = " ".join(_WORD.findall(skill.name.lower().replace("-", " ").replace("_", " ")))
    if name and (f" {name} " in text or f" {skill.name.lower()} " in text) and name not in STOP_WORDS:
        score += NAME
        because.append(f"name `{skill.name}`")
    for trigger in triggers:
        phrase = " ".join(_WORD.findall(trigger))
        if phrase and f" {phrase} " in text:
            score += TRIGGER
            because.append(f"trigger `{trigger}`")
    common = said & (_words(skill.description) | _words(name))
    weight = sum(rarity.get(word, 0.0) for word in common)
    if weight and (score or len(common) > 1):
        score += weight
        because.append(f"words {', '.join(sorted(common)[:6])}")
    return Ranked(skill, round(score, 3), tuple(because))


def _triggers(skill: Skill, overrides: Mapping[str, Any]) -> tuple[str, ...]:
    own = overrides.get(skill.name)
    return tuple(str(each).lower() for each in own) if isinstance(own, list) else skill.triggers


def _rarity(skills: Sequence[Skill]) -> dict[str, float]:
    """A word that one skill in many has says much; one that every skill has says nothing."""
    number = Counter(word for skill in skills for word in _words(skill.description) | _words(skill.name))
    total = max(len(skills), 4)
    return {word: 0.6 * max(0.0, 1 - math.log1p(count - 1) / math.log1p(total)) for word, count in number.items()}


def _words(text: str) -> set[str]:
    found = _WORD.findall(text.lower().replace("-", " ").replace("_", " "))
    return {_stem(word) for word in found if len(word) >= 4 and word not in STOP_WORDS}


def _stem(word: str) -> str:
    """Plurals and the commonest endings, so that `reports` is `report`."""
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word
