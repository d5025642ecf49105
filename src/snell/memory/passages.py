"""
Select the part of a long text that a reader needs: the sentences that fit a question, and those with a signal.

A captured file is kept complete, and a decision may be in its middle; its beginning alone would hide that.
"""

import math
import re
from collections import Counter

from msgspec import Struct

from snell.llm.embeddings.stems import content_terms, terms
from snell.memory.signals import classify

LEFT_OUT = "..."
LONGEST = 100_000  # characters
SIGNALS = 400  # sentences that are checked for a signal, those that fit best first
HEADING = 200  # characters: a first line up to this length, such as `File: a.md`, says where the rest is from

_SENTENCE = re.compile(r"[^\n]*?(?:[.!?;](?=\s)|\n|$)[ \t]*\n*")


class _Sentence(Struct):
    begin: int
    end: int
    fits: float = 0.0
    signal: float = 0.0

    @property
    def length(self) -> int:
        return self.end - self.begin


def passage(text: str, question: str, most: int) -> str:
    """Return the text itself if it is short; otherwise about `most` characters of it, around what fits the question."""
    if len(text) <= most:
        return text
    sentences = _weigh(text[:LONGEST], content_terms(question))
    chosen = _choose(text, sentences, most)
    if not chosen:
        return f"{text[:most]}{LEFT_OUT}"
    return _join(text, [sentences[at] for at in sorted(chosen)], question, most)


def _weigh(text: str, wanted: list[str]) -> list[_Sentence]:
    found = [_Sentence(match.start(), match.end()) for match in _SENTENCE.finditer(text) if match.group().strip()]
    held = [set(terms(text[each.begin : each.end])).intersection(wanted) for each in found]
    often = Counter(term for each in held for term in each)
    for sentence, its in zip(found, held, strict=True):
        sentence.fits = sum(math.log(1 + len(found) / often[term]) for term in its)
    for sentence in sorted(found, key=lambda each: -each.fits)[:SIGNALS]:
        sentence.signal = classify(text[sentence.begin : sentence.end]).score
    return found


def _choose(text: str, sentences: list[_Sentence], most: int) -> set[int]:
    """Select the heading, the best fit and the strongest signal; then more of either, and their neighbours."""
    by_fit = sorted(range(len(sentences)), key=lambda at: -(sentences[at].fits + sentences[at].signal))
    by_signal = sorted(range(len(sentences)), key=lambda at: (-sentences[at].signal, -sentences[at].fits))
    relevant = [at for at in by_fit if sentences[at].fits or sentences[at].signal]
    first = [at for at in (by_fit[:1] + by_signal[:1]) if at in relevant]
    if not first:
        return set()
    heading = [0] if sentences[0].length <= HEADING and text[sentences[0].end - 1] == "\n" else []
    around = [near for at in relevant for near in (at + 1, at - 1) if 0 <= near < len(sentences)]
    chosen: set[int] = set()
    room = most
    for at in (*heading, *first, *relevant, *around):
        if at in chosen:
            continue
        if sentences[at].length <= room or at in first:
            chosen.add(at)
            room -= min(sentences[at].length, most // 2)
    return chosen


def _join(text: str, sentences: list[_Sentence], question: str, most: int) -> str:
    parts: list[str] = []
    last = 0
    for each in sentences:
        if each.begin > last:
            parts.append(f"{LEFT_OUT} ")
        parts.append(_cut_around_match(text[each.begin : each.end], question, most // 2))
        last = each.end
    end = LEFT_OUT if last < len(text) else ""
    return f"{''.join(parts).rstrip()} {end}".rstrip()


def _cut_around_match(sentence: str, question: str, most: int) -> str:
    """Cut a sentence that is too long by itself, such as a line of data, around the first matching word."""
    if len(sentence) <= most:
        return sentence
    wanted = set(content_terms(question))
    words = (
        match.start() for match in re.finditer(r"\S+", sentence) if wanted.intersection(terms(match.group()[:200]))
    )
    begin = max(0, next(words, 0) - most // 3)
    return f"{LEFT_OUT if begin else ''}{sentence[begin : begin + most].strip()}{LEFT_OUT}\n"
