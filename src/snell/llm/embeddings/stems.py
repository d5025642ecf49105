"""Split a text into search terms: words in lower case without their endings, identifiers also in their parts."""

import re
from functools import lru_cache

MOST_WORDS = 4_000  # of one text; later words of a longer text have no terms

_WORD = re.compile(r"[^\W_](?:[\w.:/@#+-]*[\w+#])?")
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_A-Za-z]+")

_STOP_WORDS = (
    "a about above after again all also am an and any are aren't as at be because been before being below between both"
    " but by can can't cannot could couldn't did didn't do does doesn't doing don't done down each else ever every few"
    " for from further get gets getting go goes going got had has hasn't have haven't having he her here hers him his"
    " how i i'd i'll i'm i've if in into is isn't it it's its itself just let let's like ll may me might more most much"
    " must my need needs no nor not now of off on once one only or other our ours out over own please re same shall she"
    " should shouldn't so some such than that that's the their theirs them then there these they this those through to"
    " too under until up upon us use used uses using very via was wasn't we we're were what what's when where whether"
    " which while who whom whose why will with within without won't would wouldn't yes yet you your yours"
)
STOP_WORDS = frozenset(_STOP_WORDS.split())


def terms(text: str) -> list[str]:
    """Return all terms of a text in order: each word, and also the parts of an identifier or path."""
    found: list[str] = []
    for match in _WORD.finditer(text):
        found += _terms_of(match.group()[:200])
        if len(found) > MOST_WORDS:
            break
    return found


def content_terms(text: str) -> list[str]:
    """Return the terms of a text without stop words, each once."""
    return [term for term in dict.fromkeys(terms(text)) if term not in STOP_WORDS and len(term) < 100]


@lru_cache(maxsize=20_000)
def _terms_of(word: str) -> tuple[str, ...]:
    parts = [part.lower() for part in _PART.findall(word)]
    whole = _as_one_term(word)
    names = [whole, *parts] if len(parts) > 1 else [whole]
    return tuple(dict.fromkeys(stem(name) for name in names if name))


def _as_one_term(word: str) -> str:
    """Return an identifier or a path as one term, with underscores between its parts."""
    return re.sub(r"[^\w]+", "_", word.lower()).strip("_")


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """Remove an English ending. It is coarse: texts and queries only have to get the same stem."""
    if len(word) < 4 or not word.isascii() or not word.isalpha():
        return word
    for ending, put in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return _trim_end(word[: -len(ending)] + put)
    return word


_ENDINGS = (
    ("ications", "y"), ("ication", "y"), ("izations", "ize"), ("ization", "ize"), ("isations", "ize"),
    ("isation", "ize"), ("ations", "ate"), ("ation", "ate"), ("nesses", ""), ("iness", "y"), ("ness", ""),
    ("ments", ""), ("ment", ""), ("ingly", ""), ("edly", ""), ("ities", ""), ("ity", ""), ("ies", "y"), ("ied", "y"),
    ("sses", "ss"), ("ches", "ch"), ("shes", "sh"), ("xes", "x"), ("ings", ""), ("ing", ""), ("ers", ""), ("er", ""),
    ("ed", ""), ("ly", ""), ("es", ""), ("ss", "ss"), ("us", "us"), ("is", "is"), ("s", ""), ("e", ""),
)  # fmt: skip


def _trim_end(word: str) -> str:
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
        return word[:-1]
    return word[:-1] if len(word) > 3 and word.endswith("e") else word
