"""Sets of names, written as text."""


def names(text: str) -> frozenset[str]:
    return frozenset(text.split())
