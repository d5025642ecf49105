"""
Decide whether a keyword is a request. "Build a parser" is one; "the build is broken" names a thing, "we ship on
Fridays" a habit, "does it improve anything?" is a question.

A verb is a request in the position of an imperative: at the beginning of a clause, after `to`, `please`, `can you`.
This holds for the keywords that come with the pack; a user's own keyword always counts.
"""

import tomllib
from collections.abc import Sequence
from pathlib import Path

from snell.sdk.words import Token

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
