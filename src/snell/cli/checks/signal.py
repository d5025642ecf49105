"""Test whether a text is worth remembering."""

from snell.memory.signals import classify
from snell.settings.check_rows import Row, text_in

_LABELS = {1: "worth remembering", 2: "may be worth remembering", 3: "not worth remembering"}


def check_row(row: Row) -> Row:
    """Classify the text of one row."""
    signal = classify(text_in(row, "text"))
    return {"tier": signal.tier, "score": signal.score, "types": list(signal.types)}


def exit_code(answer: Row) -> int:
    return 0 if answer["tier"] < 3 else 1


def lines(_row: Row, answer: Row) -> list[str]:
    """Return whether the text is worth remembering, its tier, its score and its types."""
    first = f"{_LABELS[answer['tier']]}: tier {answer['tier']}, score {answer['score']:.2f}"
    return [first, *(f"  {each}" for each in answer["types"])]
