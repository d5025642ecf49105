"""
Decide whether a text contains anything worth remembering.

A signal is a phrase that states something lasting: a decision, the cause of an error, a convention. `signal_patterns`
lists them; a pattern applies to a sentence of prose, also in a comment, but not to a line of code, a question or a
mere mention.
"""

import re
from collections.abc import Iterable
from typing import Literal

import msgspec

from snell.memory.signal_patterns import ROWS
from snell.memory.signal_row import Row
from snell.memory.tool_output import ToolOutput

Tier = Literal[1, 2, 3]
STRONG, MODERATE = 0.8, 0.5


class Signal(msgspec.Struct, frozen=True):
    """The tier (1 strong, 2 moderate, 3 none), the highest score, and the types that were found, in table order."""

    tier: Tier = 3
    score: float = 0.0
    types: tuple[str, ...] = ()


def classify(text: str) -> Signal:
    """Return the signal of a text."""
    found = _matching_rows(text, _possible(ROWS, text))
    score = max((row.score for row in found), default=0.0)
    return Signal(tier_of(score), score, tuple(dict.fromkeys(row.type for row in ROWS if row in found)))


def tier_of(score: float) -> Tier:
    return 1 if score >= STRONG else 2 if score >= MODERATE else 3


def importance_of(signal: Signal) -> float:
    """Return 0 to 1: at least 0.7 for a strong signal, at least 0.4 for a moderate one."""
    if signal.tier == 1:
        return max(0.7, signal.score)
    return max(0.4, round(0.8 * signal.score, 4))


def namespace_of(types: tuple[str, ...]) -> str:
    """Return the namespace for these types; the first that applies."""
    return next((namespace for namespace, of in _NAMESPACES if of.intersection(types)), "captured")


_NAMESPACES = (
    ("decisions", frozenset({"decision"})),
    ("troubleshooting", frozenset({"error", "solution"})),
    ("patterns", frozenset({"pattern", "convention", "workaround", "configuration"})),
    ("notes", frozenset({"important", "explicit"})),
    ("definitions", frozenset({"definition"})),
)


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
    if (sentence.endswith("?") and not row.may_ask) or row.pattern.search(sentence) is None:
        return False
    if row.type not in _STATED or not (_SUPPOSED.search(sentence) or _NARRATED.search(sentence)):
        return True
    return not _SUPPOSED.search(sentence) and _GROUNDS.search(sentence) is not None


_STATED = ("decision", "error", "solution", "procedure")
_SUPPOSED = re.compile(
    r"^(?:but |and |so |or )?(?:if|maybe|perhaps|possibly|suppose|supposing|assuming|whether|unless|in case"
    r"|what if)\b"
    r"|\b(?:might|may|could) be\b|\bnot sure\b|\bi (?:think|guess|suspect|wonder|assume)\b",
    re.IGNORECASE,
)
# An agent about its current work: `Now I'll use sed`, `I selected 3 rows`, `First, let me look`.
_NARRATED = re.compile(
    r"^(?:(?:now|next|then|first|ok|okay|so|great|and|also|finally|alright|perfect|good|here)\b[,:]?[ \t]*){0,3}"
    r"(?:i|i'm|i'll|i've|i'd|let me|let's|lets|time to)\b|\b(?:next step|for now|this time|for this (?:run|step"
    r"|edit|one))\b"
    r"|\blet me\b",
    re.IGNORECASE,
)
_GROUNDS = re.compile(
    r"\b(?:because|instead of|rather than|over|since|so that|in favou?r of|everywhere|throughout|from now on"
    r"|for (?:all|every)|as (?:our|the|a))\b"
    r"|\blet'?s (?:just |all )?(?:go|stick|stay) with"
    r" (?!(?:the|an?|this|that|it|these|those|option|plan|approach|what)\b)\w"
    r"|\bcaused? by\b|\b(?:issue|problem|bug|cause|fix|solution)\b",
    re.IGNORECASE,
)


def _sentences(line: str) -> list[str]:
    return _STOP.split(_LEAD.sub("", line[:_LONGEST]))


_LONGEST = 2_000  # characters of a line; a longer one is data
_STOP = re.compile(r"(?<=[.!?;])\s+")
_LEAD = re.compile(
    r"""^\s*(?:\S{1,60}:\d+:)?\s*(?:(?:#+|//+|/\*+|\*+|--|;+|>+|-|\+|\d+[.)]|<!--|\"{3}|'{3}|\[[ x]\])\s*){0,3}"""
)


def _is_code(line: str) -> bool:
    if _COMMENT.match(line):
        return False
    return bool(_CODE.search(line)) and not _PROSE.search(line)


_COMMENT = re.compile(r"""\s*(?:#(?!\s*(?:include|define|pragma|if|endif))|//|/\*|\*\s|--\s|;;|<!--|\"{3}|'{3})""")
_CODE = re.compile(
    r"""^\s*(?:import|from|export|const|let|var|def|class|return|function|public|private|async|await|if|for|while"""
    r"""|elif|else|try"""
    r"""|SELECT|INSERT|UPDATE|CREATE|@\w+|\$\s|>>>|[+-]\s*(?:import|const|def|let))\b.*[(){};=:'"]"""
    r"""|[;{}]\s*$|^\s*[\w.]+\s*:\s*[\w.\[\], |]+\s*=\s*\S|^\s*[\w.\[\]'"]+\s*(?:=|\+=|:=|=>)\s*\S"""
    r"""|^\s*[\w.]+\([^)]*\)[;,]?\s*$|^\s*["'][\w-]+["']\s*:|=>|\(\)\s*[{;]|^\s*<[\w/][^>]*>""",
)
_PROSE = re.compile(r"(?:\b[a-z']{2,}\s+){6}")  # so many words in a row are a sentence, whatever it begins with
