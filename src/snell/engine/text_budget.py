"""Limits the text that one event gives to the model: reasons first, then notes, in execution order."""

from collections.abc import Sequence

from snell.model.decision import Reason

LIMIT = 8 * 1024  # bytes of UTF-8
CUT = "... (cut: `snell why` has the whole text)"


def cut_to_budget(reasons: Sequence[Reason], notes: Sequence[Reason]) -> tuple[tuple[Reason, ...], tuple[Reason, ...]]:
    """Return both lists, cut where the budget ends."""
    left = LIMIT
    kept: list[tuple[Reason, ...]] = []
    for texts in (reasons, notes):
        shortened, left = _cut_texts(texts, left)
        kept.append(shortened)
    return kept[0], kept[1]


def _cut_texts(texts: Sequence[Reason], left: int) -> tuple[tuple[Reason, ...], int]:
    kept: list[Reason] = []
    for reason in texts:
        size = _size(reason.text) + _size(reason.instead)
        if size <= left:
            kept.append(reason)
            left -= size
        else:
            if left > len(CUT):
                kept.append(Reason(reason.hook, _cut(reason.text, left)))
            left = 0
    return tuple(kept), left


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _cut(text: str, size: int) -> str:
    room = max(size - len(CUT), 0)
    return text.encode("utf-8", "surrogatepass")[:room].decode("utf-8", "ignore") + CUT
