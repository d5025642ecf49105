"""Score how informative a text is: a short text without structure or names is not worth storing."""

import re

from snell.memory.types import Draft

REJECT, LOWER = 0.3, 0.5

_REASONS = re.compile(
    r"\b(?:because|since|therefore|so that|in order to|due to|as a result|instead of|rather than|which means|unless"
    r"|otherwise|hence|thus|why|reason)\b",
    re.IGNORECASE,
)
_NAMES = re.compile(r"\b[a-z]+[A-Z]\w*|\b\w+_\w+|\b[A-Z][a-z]+[A-Z]\w*|\b[A-Z]{2,}\w*|(?<=[a-z,] )[A-Z]\w+|`[^`\n]+`")
_FILE = re.compile(r"[\w./-]*\w\.[a-z]{1,5}\b(?!\()|(?:^|\s)[./~]?/[\w.-]+/[\w./-]+", re.MULTILINE)
_CALL = re.compile(r"\b\w+\([^)\n]*\)")
_VERSION = re.compile(r"\bv?\d+\.\d+(?:\.\d+)*\b")
_LINK_OR_CODE = re.compile(r"https?://\S+|`[^`\n]+`")


def quality(draft: Draft) -> float:
    """Return 0 to 1, from the signal, the length, the structure, and how concrete the text is."""
    text = draft.content
    parts = 0.3 * draft.signal, 0.2 * _length(len(text)), 0.2 * _structure(text, draft.tags), 0.3 * _richness(text)
    return round(sum(parts), 4)


def _length(characters: int) -> float:
    steps = ((20, 0.0), (100, 0.5), (501, 1.0), (2_001, 0.8))
    return next((score for limit, score in steps if characters < limit), 0.7)


def _structure(text: str, tags: tuple[str, ...]) -> float:
    return 0.3 * bool(tags) + 0.3 * bool(_REASONS.search(text)) + 0.4 * bool(_NAMES.search(text))


def _richness(text: str) -> float:
    return 0.25 * sum(bool(pattern.search(text)) for pattern in (_FILE, _CALL, _VERSION, _LINK_OR_CODE))
