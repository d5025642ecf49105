"""
Split a text into search terms: words in lower case without their endings, identifiers also in their parts.

`concepts.txt` has groups of words with nearly the same meaning.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from itertools import chain, islice, pairwise
from pathlib import Path

from snell.redact.pattern_file import patterns_of

MOST_TERMS = 4_000  # of one text; what comes later is not searched

_WORD = re.compile(r"[^\W_](?:[\w.:/@#+-]*[\w+#])?")
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_A-Za-z]+")

_LISTS = patterns_of("llm/embeddings")
_ENDINGS = tuple((ending, put) for ending, _, put in (each.partition(">") for each in _LISTS.words("endings")))
_CONCEPTS = Path(__file__).with_name("concepts.txt")


def words(text: str) -> Iterator[tuple[str, ...]]:
    """Yield the terms of each word: the word, and then the parts of an identifier or path."""
    return (_terms_of(match.group()[:200]) for match in _WORD.finditer(text))


def terms(text: str) -> list[str]:
    """Return all terms of a text in order."""
    return list(islice(chain.from_iterable(words(text)), MOST_TERMS))


def content_terms(text: str) -> list[str]:
    """Return the terms of a text without stop words, each once."""
    return [term for term in dict.fromkeys(terms(text)) if term not in STOP_WORDS and len(term) < 100]


def expressions(found: Sequence[str]) -> list[str]:
    """Return the expressions of a text that groups of `concepts.txt` contain, such as `rate_limit`, from its terms."""
    known = groups_of()
    return [pair for pair in map("_".join, pairwise(found)) if pair in known]


@lru_cache(maxsize=20_000)
def _terms_of(word: str) -> tuple[str, ...]:
    parts = [part.lower() for part in _PART.findall(word)]
    whole = re.sub(r"[^\w]+", "_", word.lower()).strip("_")
    names = [whole, *parts] if len(parts) > 1 else [whole]
    return tuple(dict.fromkeys(stem(name) for name in names if name))


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """Remove an English ending. It is coarse: texts and queries only have to get the same stem."""
    if len(word) < 4 or not word.isascii() or not word.isalpha():
        return word
    for ending, put in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return _trim_end(word[: -len(ending)] + put)
    return word


def _trim_end(word: str) -> str:
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
        return word[:-1]
    return word[:-1] if len(word) > 3 and word.endswith("e") else word


# Texts are compared by their terms, so a stop word counts as it is written, as a stem (`befor`) and in parts (`don`).
STOP_WORDS = frozenset(
    each for word in _LISTS.words("stop_words") for each in (word, stem(word), *map(stem, word.split("'")))
)


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
    lines = _CONCEPTS.read_text(encoding="utf-8").splitlines()
    wanted = (line.split() for line in lines if line and not line.startswith("#"))
    return tuple(tuple(dict.fromkeys("_".join(map(stem, word.split("_"))) for word in words)) for words in wanted)
