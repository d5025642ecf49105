"""
Find the route of a prompt: the first keyword that is a request.

"Build a parser" is one; "the build is broken" names a thing, "we ship on Fridays" a habit, "does it improve anything?"
is a question. A verb is a request in the position of an imperative: at the beginning of a clause, after `to`, `please`,
`can you`. This holds for the keywords that come with the pack; a user's own keyword always counts.
"""

import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from snell.sdk.words import Token, distance, is_typo_of, tokenize
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


_MARKS = (",", "?")
_LISTS = tomllib.loads(Path(__file__).with_name("request_words.toml").read_text(encoding="utf-8"))
_FOLLOWS = {keyword: frozenset(words.split()) for keyword, words in _LISTS.pop("follows").items()}
WORDS: dict[str, frozenset[str]] = {name: frozenset(words.split()) for name, words in _LISTS.items()}


def is_request(words: Sequence[Token], at: int, keyword: str) -> bool:
    """Whether the keyword at this position is a request."""
    before, after = _sentence(words, at)
    if after[:1] and after[0] in _FOLLOWS.get(keyword, ()):
        return False
    if keyword == "readme":
        return not WORDS["consults"] & {*before[-3:], *after[:1]} and not _is_question(before, after)
    if keyword == "tweet":
        return _is_order(keyword, before) or bool(WORDS["writes"] & {*before})
    if keyword not in WORDS["verbs"]:
        return True
    if words[at].text.endswith("s") and not keyword.endswith("s"):
        return False  # `builds`: third person, or plural
    return _is_order(keyword, before) and not _is_question(before, after)


def _sentence(words: Sequence[Token], at: int) -> tuple[list[str], list[str]]:
    """Return the words before and after this one in the same sentence, with its commas and its question mark."""
    start = at
    while start > 0 and words[start - 1].ends in ("", ","):
        start -= 1
    end = at
    while end < len(words) - 1 and words[end].ends in ("", ","):
        end += 1
    return _with_marks(words[start:at]), _with_marks(words[at : end + 1])[1:]


def _with_marks(words: Sequence[Token]) -> list[str]:
    return [part for each in words for part in (each.text, each.ends) if part == each.text or part in _MARKS]


def _is_order(keyword: str, before: list[str]) -> bool:
    if not before:
        return True
    last, earlier = before[-1], before[-2] if before[1:] else ""
    if last == "to":
        return earlier not in WORDS["not_to"] and not (earlier in WORDS["tries"] and keyword in WORDS["not_trying"])
    if last in WORDS["modals"]:
        return earlier in WORDS["you"] or (not earlier and last in WORDS["bare"])
    if last in WORDS["you"]:
        return earlier in WORDS["suggests"]
    if keyword == "build" and last in ("the", "a", "full", "new"):
        return bool(WORDS["runs"] & {*before[-3:]})
    return last in WORDS["before"] or last.endswith("ly")


def _is_question(before: list[str], after: list[str]) -> bool:
    """Whether it is a question of fact, not a polite request such as `would you`, `is there a way to`."""
    if after[-1:] != ["?"] or not before or before[0] not in WORDS["asks"]:
        return False
    return not {"you", "please", "way"} & {*before} and before[:2] != ["why", "not"]
