"""
Decide whether a text contains anything worth remembering, and extract the statements of a longer one.

A signal is a phrase that states something lasting: a decision, the cause of an error, a convention. `patterns.toml`
lists them; a pattern applies to a sentence of prose, also in a comment, but not to a line of code, a question, a mere
mention, or what a program printed.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache, cached_property
from typing import Literal

import msgspec

from snell.redact.pattern_file import patterns_of

PATTERNS = patterns_of("memory")
Tier = Literal[1, 2, 3]
STRONG, MODERATE = 0.8, 0.5
NEVER = r"(?!)"  # a pattern that matches nothing
LONGEST_LINE = 2_000  # characters; a longer one is data
MOST_STATEMENTS = 100  # statements of one text
SHORTEST_STATEMENT, LONGEST_STATEMENT = 20, 1_000  # characters of a statement


class Signal(msgspec.Struct, frozen=True):
    """The tier (1 strong, 2 moderate, 3 none), the highest score, and the types that were found, in table order."""

    tier: Tier = 3
    score: float = 0.0
    types: tuple[str, ...] = ()


def classify(text: str) -> Signal:
    """Return the signal of a text."""
    found = _matching_rows(text, _possible(signal_rows(), text))
    score = max((row.score for row in found), default=0.0)
    return Signal(tier_of(score), score, tuple(dict.fromkeys(row.type for row in signal_rows() if row in found)))


def tier_of(score: float) -> Tier:
    return 1 if score >= STRONG else 2 if score >= MODERATE else 3


def importance_of(signal: Signal) -> float:
    """Return 0 to 1: at least 0.7 for a strong signal, at least 0.4 for a moderate one."""
    if signal.tier == 1:
        return max(0.7, signal.score)
    return max(0.4, round(0.8 * signal.score, 4))


def namespace_of(types: tuple[str, ...]) -> str:
    """Return the namespace for these types; the first that applies."""
    known = PATTERNS.tables["namespaces"].items()
    return next((namespace for namespace, of in known if not set(of).isdisjoint(types)), "captured")


class Row(msgspec.Struct, frozen=True, eq=False, dict=True):
    """One signal of the table; its patterns are compiled on the first use."""

    type: str
    score: float
    words: list[str]
    begins: str = NEVER
    phrase: str = NEVER
    may_ask: bool = False

    @cached_property
    def _patterns(self) -> tuple[re.Pattern[str], re.Pattern[str]]:
        lead, begins, phrase = map(PATTERNS.expand, ("{BEGIN}", self.begins, self.phrase))
        return re.compile(f"{lead}(?:{begins})", re.IGNORECASE), re.compile(phrase, re.IGNORECASE)

    def matches(self, sentence: str) -> bool:
        begins, phrase = self._patterns
        return bool(begins.match(sentence) or phrase.search(sentence))

    def is_possible(self, lowered: str) -> bool:
        """Whether one of the words occurs: a cheap check, and every match of the pattern contains one."""
        for word in self.words:  # noqa: SIM110 a generator costs several times as much, and this runs for every line
            if word in lowered:
                return True
        return False


@cache
def signal_rows() -> tuple[Row, ...]:
    return msgspec.convert(PATTERNS.tables["signal"], tuple[Row, ...])


def _possible(rows: Iterable[Row], text: str) -> list[Row]:
    lowered = text.lower()
    return [row for row in rows if row.is_possible(lowered)]


def _matching_rows(text: str, rows: list[Row]) -> list[Row]:
    found: list[Row] = []
    output = ToolOutput(text)
    lines = text.split("\n") if rows else []
    for line in lines:
        left = [row for row in rows if row not in found]
        left = _possible(left, line) if len(lines) > 1 else left
        if left and not _is_code(line) and not output.contains(line):
            for sentence in _sentences(line):
                found += [row for row in _possible(left, sentence) if row not in found and _states(row, sentence)]
    return found


def _states(row: Row, sentence: str) -> bool:
    """Whether a sentence states it: not a question, a supposition, or narration of the current work."""
    if (sentence.endswith("?") and not row.may_ask) or not row.matches(sentence):
        return False
    if row.type not in _STATED or not (PATTERNS.supposed.search(sentence) or PATTERNS.narrated.search(sentence)):
        return True
    return not PATTERNS.supposed.search(sentence) and PATTERNS.grounds.search(sentence) is not None


_STATED = ("decision", "error", "solution", "procedure")


def _sentences(line: str) -> list[str]:
    return PATTERNS.clause_end.split(PATTERNS.line_lead.sub("", line[:LONGEST_LINE]))


def _is_code(line: str) -> bool:
    return not PATTERNS.comment.match(line) and bool(PATTERNS.code.search(line)) and not PATTERNS.prose.search(line)


class ToolOutput:
    """
    Tells which lines of a text a compiler or another program printed.

    `note: required by a bound` is part of a compiler error and not worth storing. A person's note begins with `Note:`
    or is in a comment or a list; a bare `note:` is a program's if the text around it or its own words say so.
    """

    def __init__(self, text: str) -> None:
        self._text = text

    def contains(self, line: str) -> bool:
        """Whether this line was printed by a program rather than written by a person."""
        if PATTERNS.output_with_place.match(line) or PATTERNS.output_remark.match(line):
            return True
        return bool(PATTERNS.bare_remark.match(line)) and (bool(PATTERNS.output_phrase.match(line)) or self._is_build)

    @cached_property
    def _is_build(self) -> bool:
        return PATTERNS.build_output.search(self._text) is not None


class Statement(msgspec.Struct, frozen=True):
    """One statement of a text."""

    text: str
    confidence: float
    importance: float
    types: tuple[str, ...]


def statements(text: str, min_confidence: float = 0.5) -> list[Statement]:
    """Return the lasting statements, in their order, each once."""
    found: dict[str, Statement] = {}
    for part in _statement_texts(text):
        signal = classify(part)
        if signal.score >= max(min_confidence, 1e-9):
            found.setdefault(part.lower(), Statement(part, signal.score, importance_of(signal), signal.types))
        if len(found) >= MOST_STATEMENTS:
            break
    return list(found.values())


def _statement_texts(text: str) -> Iterator[str]:
    """Yield sentences; one that continues the sentence before stays with it."""
    for paragraph in PATTERNS.paragraph.split(text):
        held = ""
        for sentence in PATTERNS.sentence_end.split(" ".join(PATTERNS.list_lead.sub("", paragraph).split())):
            if held and PATTERNS.continues.match(sentence) and len(held) + len(sentence) < LONGEST_STATEMENT:
                held = f"{held} {sentence}"
                continue
            if len(held) >= SHORTEST_STATEMENT:
                yield held[:LONGEST_STATEMENT]
            held = sentence
        if len(held) >= SHORTEST_STATEMENT:
            yield held[:LONGEST_STATEMENT]
