"""Extract the statements of a longer text that are worth remembering, each with a confidence."""

import re
from collections.abc import Iterator

from msgspec import Struct

from snell.memory.signals import classify, importance_of

MOST = 100  # statements of one text
SHORTEST, LONGEST = 20, 1_000  # characters of a statement
_PARAGRAPH = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*+]|\d+[.)])\s)")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z`\"'(\d])")
_LEAD = re.compile(r"^\s*(?:[-*+]|\d+[.)]|#+)\s+")
_CONTINUES = re.compile(r"(?:this|that|it|so|because|therefore|otherwise|which|hence|then)\b", re.IGNORECASE)


class Statement(Struct, frozen=True):
    """One statement of a text."""

    text: str
    confidence: float
    importance: float
    types: tuple[str, ...]


def statements(text: str, min_confidence: float = 0.5) -> list[Statement]:
    """Return the lasting statements, in their order, each once."""
    found: dict[str, Statement] = {}
    for part in _parts(text):
        signal = classify(part)
        if signal.score >= max(min_confidence, 1e-9):
            found.setdefault(part.lower(), Statement(part, signal.score, importance_of(signal), signal.types))
        if len(found) >= MOST:
            break
    return list(found.values())


def _parts(text: str) -> Iterator[str]:
    """Yield sentences; one that continues the sentence before stays with it."""
    for paragraph in _PARAGRAPH.split(text):
        held = ""
        for sentence in _SENTENCE.split(" ".join(_LEAD.sub("", paragraph).split())):
            if held and _CONTINUES.match(sentence) and len(held) + len(sentence) < LONGEST:
                held = f"{held} {sentence}"
                continue
            if len(held) >= SHORTEST:
                yield held[:LONGEST]
            held = sentence
        if len(held) >= SHORTEST:
            yield held[:LONGEST]
