"""
Decide whether a keyword is a request. "Build a parser" is one; "the build is broken" names a thing, "we ship on
Fridays" a habit, "does it improve anything?" is a question.

A verb is a request in the position of an imperative: at the beginning of a clause, after `to`, `please`, `can you`.
This holds for the keywords that come with the pack; a user's own keyword always counts.
"""

from collections.abc import Sequence

from snell.sdk.words import Token


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_VERBS = _words("ship build refine learn improve distill")
_MARKS = (",", "?")

# What follows if the keyword is a noun.
_FOLLOWS = {
    "build": _words(
        "error errors failure failures failed fails failing fail broke broken breaks passes passed log logs directory"
        " dir folder folders artifact artifacts status number cache time times output outputs is was has takes took"
        " info warning warnings green red matrix"
    ),
    "ship": _words("date dates sprite sprites object class model position speed movement is was hull"),
    "tweet": _words(
        "id ids model models table component components object objects schema endpoint endpoints button card list api"
        " parser class field fields column columns text embed embeds feed store is was has were"
    ),
    "visual": _words(
        "studio basic bug bugs glitch glitches regression regressions mode line block diff diffs artifact artifacts"
        " impairment impairments noise c foxpro tests test snapshot snapshots effect effects"
    ),
}
_CONSULTS = _words(
    "read see check follow following per consult open says according via mention mentions mentioned claims"
)
_WRITES = _words(
    "write compose draft create make post turn summarise summarize prepare craft generate need want give send add"
    " as into"
)
# What precedes an imperative.
_BEFORE = _words(
    ", to please pls plz and then now just also or but so let's lets me us first next finally go again ahead ok okay"
    " only simply instead later good great done fine perfect nice cool yes yep lgtm thanks green not help let claude"
    " hey hi ready wanna gotta better try"
)
_YOU = _words("you we i i'd we'd someone somebody anyone")
_MODALS = _words("can could should shall would will may might must need want")
_BARE = _words("need want must should")  # "need improve this", without a subject
_SUGGESTS = _words("can could should shall would will may might must don't didn't not")  # "can you", "why don't we"
# Before `to`: a statement or a question of manner, not a request.
_NOT_TO = _words(
    "what who where when which fails failed fail failing refuses unable able used tends supposed takes took hard easy"
    " decides said asked allowed slow fast impossible wants begins began starts started stopped"
)
# "How to improve it" and "trying to improve it" are requests; with these keywords a question or a report.
_TRIES = _words("how trying tried try attempting")
_NOT_TRYING = _words("ship build")
_RUNS = _words("run start trigger kick rerun do make")  # "run the build" asks for it
_ASKS = _words("does did do is are was were has have had will would when where who which why")


def is_request(words: Sequence[Token], at: int, keyword: str) -> bool:
    """Whether the keyword at this position is a request."""
    before, after = _sentence(words, at)
    if after[:1] and after[0] in _FOLLOWS.get(keyword, ()):
        return False
    if keyword == "readme":
        return not _CONSULTS & {*before[-3:], *after[:1]} and not _is_question(before, after)
    if keyword == "tweet":
        return _is_order(keyword, before) or bool(_WRITES & {*before})
    if keyword not in _VERBS:
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
        return earlier not in _NOT_TO and not (earlier in _TRIES and keyword in _NOT_TRYING)
    if last in _MODALS:
        return earlier in _YOU or (not earlier and last in _BARE)
    if last in _YOU:
        return earlier in _SUGGESTS
    if keyword == "build" and last in ("the", "a", "full", "new"):
        return bool(_RUNS & {*before[-3:]})
    return last in _BEFORE or last.endswith("ly")


def _is_question(before: list[str], after: list[str]) -> bool:
    """Whether it is a question of fact, not a polite request such as `would you`, `is there a way to`."""
    if after[-1:] != ["?"] or not before or before[0] not in _ASKS:
        return False
    return not {"you", "please", "way"} & {*before} and before[:2] != ["why", "not"]
