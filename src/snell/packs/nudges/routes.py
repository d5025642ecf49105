"""Find the route of a prompt: the first keyword that is a request."""

import re
from collections.abc import Collection, Mapping

from snell.packs.nudges.request_check import WORDS, is_request
from snell.sdk.words import distance, is_typo_of, tokenize
from snell.system.lazy_regex import lazy_regex

META = (
    lazy_regex(r"\b(?<!react )(?<!git )(?<!custom )(?<!webpack )hooks?\b(?!\s*(?:useeffect|usestate))", re.IGNORECASE),
    lazy_regex(r"\bnudg(?:e|es|ed|ing)\b", re.IGNORECASE),
    lazy_regex(
        r"\b(?:check|fix|debug|test|review|inspect|change|edit|why)\b[^.\n]{0,40}\b(?:sub)?agents?\b(?!\s+(?:class|module))",
        re.IGNORECASE,
    ),
    lazy_regex(r"\bsettings\.(?:local\.)?json\b|\b(?:claude|agent|editor|hook)(?:'s)?\s+settings\b", re.IGNORECASE),
)
DOCUMENTS = lazy_regex(r"\b(?:todo|readme|changelog|spec|architecture)\b|\b[\w/-]{1,100}\.md\b", re.IGNORECASE)
_OF_REACT = lazy_regex(r"\buse[A-Z]\w*\s+hooks?\b")
_README = lazy_regex(r"\breadme\.(?:md|rst|txt)\b", re.IGNORECASE)


def is_meta(prompt: str) -> bool:
    """Whether the prompt is about hooks, agents, nudges or settings themselves, so that no route is meant."""
    prompt = _OF_REACT.sub("", prompt)
    return any(pattern.search(prompt) for pattern in META)


def route_of(
    prompt: str, routes: Mapping[str, str], matching: str = "careful", look_alikes: Collection[str] = ()
) -> str:
    """Return the keyword of the route that a prompt takes; empty for none. Look-alikes are words, not typos."""
    if is_meta(prompt):
        return ""
    if matching == "seed":
        return _seed_route(prompt, routes)
    words = tuple(tokenize(_README.sub("readme", prompt)))
    known: dict[str, str] = {}  # a long prompt repeats most of its words
    for at, word in enumerate(words):
        if word.is_negated or len(word.text) < 3:
            continue
        if word.text not in known:
            known[word.text] = _keyword(word.text, routes, matching, look_alikes)
        keyword = known[word.text]
        if keyword and is_request(words, at, keyword):
            return keyword
    return ""


def asks_for_commit(prompt: str) -> bool:
    """Whether a commit is requested, not only mentioned or forbidden."""
    if not _MAY_COMMIT.search(prompt):
        return False
    words = tuple(tokenize(prompt))
    return any(
        word.text in _COMMITS and not word.is_negated and not (at and words[at - 1].text in WORDS["a_commit"])
        for at, word in enumerate(words)
    )


_MAY_COMMIT = lazy_regex(r"\bcommit", re.IGNORECASE)
_COMMITS = frozenset(("commit", "commits", "committing"))


def _keyword(word: str, routes: Mapping[str, str], matching: str, look_alikes: Collection[str]) -> str:
    if word in routes:
        return word
    if matching == "exact":
        return ""
    singular = word.removesuffix("s")
    if singular in routes and len(singular) >= 4:
        return singular
    if matching == "plural" or word in look_alikes:
        return ""
    return next((keyword for keyword in routes if is_typo_of(word, keyword)), "")


def _seed_route(prompt: str, routes: Mapping[str, str]) -> str:
    """Match words of three letters and more; near misses by plain edit distance."""
    for word in (found[0] for found in re.finditer(r"[a-z]{3,}", prompt.lower())):
        if word in routes:
            return word
        if len(word) < 4:
            continue
        for keyword in routes:
            if len(keyword) >= 4 and distance(word, keyword, limit := 1 if len(keyword) <= 5 else 2) <= limit:
                return keyword
    return ""
