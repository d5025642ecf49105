"""Groups of words with nearly the same meaning, from `concepts.txt`."""

from functools import cache
from pathlib import Path

from snell.llm.embeddings.stems import stem

_FILE = Path(__file__).with_name("concepts.txt")


@cache
def groups_of() -> dict[str, tuple[int, ...]]:
    """Return the numbers of the groups of each term."""
    found: dict[str, tuple[int, ...]] = {}
    for number, terms in enumerate(_groups()):
        for term in terms:
            found[term] = (*found.get(term, ()), number)
    return found


@cache
def related_words(term: str) -> tuple[str, ...]:
    """Return the other words of the groups that contain a term."""
    groups = _groups()
    others = (other for number in groups_of().get(term, ()) for other in groups[number])
    return tuple(dict.fromkeys(other for other in others if other != term))


@cache
def _groups() -> tuple[tuple[str, ...], ...]:
    lines = _FILE.read_text(encoding="utf-8").splitlines()
    wanted = (line.split() for line in lines if line and not line.startswith("#"))
    return tuple(tuple(dict.fromkeys("_".join(map(stem, word.split("_"))) for word in words)) for words in wanted)
