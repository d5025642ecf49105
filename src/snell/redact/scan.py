"""
Find the positions where a secret may begin: one pass over the text for all formats, and one for all contexts.

With google-re2 a pass costs less than a hundredth of one search per rule; without it the standard library finds the
same positions, with patterns that share their beginnings. Each position is only a candidate, so both ways find the same
secrets.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, NamedTuple

from snell.redact.config_values import options_by_program
from snell.redact.foreign_names import has_name, name_patterns
from snell.redact.format_notation import Part
from snell.redact.format_rules import BEFORE, ENOUGH, TELLING, Format, formats
from snell.redact.normalise import escape_pattern, escape_scans
from snell.redact.pattern_file import PATTERNS, any_of

Scan = Callable[[bytes], list[int]]
MORE = 20  # and after one in the middle: `pygments.lexers.templates` is no token

_REACH = 60  # characters at the end of a match that may contain another
_SHORTEST_RUN = 22
_use_re2 = True


class Scans(NamedTuple):
    """The searches of one implementation: google-re2 or the standard library."""

    formats: Callable[[bytes], tuple[list[int], list[int]]]  # where a literal begins, and near one in the middle
    contexts: Scan
    names: Scan
    next_escape: Callable[[bytes, int], int]  # the next escape from this position, or -1
    has_foreign_name: Callable[[str], bool]  # of a secret, in another language than English


@cache
def scans() -> Scans:
    try:
        return _fast() if _use_re2 else _plain()
    except ImportError:
        return _plain()


def use_re2(wanted: bool) -> None:
    """Switch google-re2 off and on again, for comparisons."""
    global _use_re2
    _use_re2 = wanted
    scans.cache_clear()


def _fast() -> Scans:
    import re2  # type: ignore[import-untyped]  # it has no types

    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.max_mem = 16 << 20  # bytes of each pattern and its states
    options.log_errors = False
    starts = [_start(each) for each in formats() if not each.before]
    patterns = (
        rf"(?:\b|_|{_escape()})(" + "|".join(_group(start for start in starts if start[0][0].isalnum())) + ")"
        "|(" + "|".join(_group(start for start in starts if not start[0][0].isalnum())) + ")"
        "|[A-Za-z0-9](" + "|".join(_group(_start(each) for each in formats() if each.may_follow_word)) + ")"
        "|" + "|".join(sorted({_around(each, look_behind=False) for each in formats() if each.before})),
        "(?i:" + _remove_bounds("|".join(context_scans("{}{}"))) + ")",
        _remove_bounds("|".join(escape_scans())),
        "(?i:" + _remove_bounds(_names()) + ")",
    )
    foreign = re2.compile(f"(?i:{'|'.join(name_patterns())})(?:[^a-z]|$|[a-z]{{1,3}}(?:[^a-z]|$))".encode())
    known, around, again, names = (re2.compile(pattern.encode(), options) for pattern in patterns)
    return Scans(
        lambda data: _split(known.search, data),
        lambda data: _steps(around.search, data),
        lambda data: [each.start() for each in names.finditer(data)],
        lambda data, at: _next(again.search, data, at),
        lambda text: foreign.search(text.encode("utf-8", "replace")) is not None,
    )


def _overlapping(search: Callable[[bytes, int], Any], data: bytes) -> Iterator[Any]:
    """Yield all matches, also those inside an earlier one, which may turn out not to be a secret."""
    at = 0
    while found := search(data, at):
        yield found
        at = found.start() + 1


def _split(search: Callable[[bytes, int], Any], data: bytes) -> tuple[list[int], list[int]]:
    """Split matches: a literal at the beginning hides one in the middle that is found from the same position."""
    beginnings, middles = [], []
    for found in _overlapping(search, data):
        middles.append(found.start())
        if found.lastindex:
            beginnings.append(found.start(found.lastindex))
    return beginnings, middles


def _steps(search: Callable[[bytes, int], Any], data: bytes) -> list[int]:
    """Return the positions of matches, also of one that begins before the last has ended."""
    starts, at = [], 0
    while found := search(data, at):
        starts.append(found.start())
        at = max(found.start() + 1, found.end() - _REACH)
    return starts


def _next(search: Callable[[bytes, int], Any], data: bytes, at: int) -> int:
    found = search(data, at)
    return int(found.start()) if found else -1


def runs(data: bytes) -> Iterator[int]:
    """Yield where a run begins that is long enough to be an encoding."""
    folded = data.translate(_RUNS)  # with all of its characters the same, a run can be found like a word
    at = folded.find(_RUN)
    while at >= 0:
        yield at
        end = folded.find(b" ", at)
        at = folded.find(_RUN, end) if end >= 0 else -1


_RUNS = bytes(ord("a" if re.match("[A-Za-z0-9+/_-]", chr(each)) else " ") for each in range(256))
_RUN = b"a" * _SHORTEST_RUN


def _remove_bounds(pattern: str) -> str:
    """Remove counts: each costs an automaton a state per number, and only the standard library needs them."""
    return re.sub(r"\{(0|1),\d{2,3}\}", lambda limit: "*" if limit[1] == "0" else "+", pattern)


def _plain() -> Scans:
    def scan(pattern: str) -> Scan:
        search = re.compile(pattern.encode())
        return lambda data: [found.start() for found in search.finditer(data)]

    def literals(words: list[str]) -> Scan:
        free = re.compile(("(?<![A-Za-z0-9])" + any_of(words)).encode())
        escaped = re.compile(f"(?:{_escape()})(?={any_of(words)})".encode())
        after_word = re.compile(any_of(sorted({each.literal for each in formats() if each.may_follow_word})).encode())

        def find_starts(data: bytes) -> list[int]:
            starts = {each.start() for each in _overlapping(free.search, data)}
            starts.update(each.start() for each in _overlapping(after_word.search, data))
            return sorted(starts.union(each.end() for each in escaped.finditer(data)))

        return find_starts

    def scan_lower(patterns: Iterable[str]) -> Scan:
        # One after the other: each begins with what `re` can search for quickly, all together do not.
        searches = [re.compile(pattern.replace("A-Z", "").encode()) for pattern in patterns]

        def find_starts(data: bytes) -> list[int]:
            small = data.lower()
            return sorted({each.start() for search in searches for each in search.finditer(small)})

        return find_starts

    again = re.compile(escape_pattern().pattern.encode())
    beginnings = literals(sorted({each.literal for each in formats() if not each.before}))
    middles = scan("|".join(sorted({_around(each, look_behind=True) for each in formats() if each.before})))
    return Scans(
        lambda data: (beginnings(data), middles(data)),
        scan_lower(_share_words(context_scans("{}(?={})"))),
        scan_lower([_names()]),
        lambda data, at: _next(again.search, data, at),
        has_name,
    )


def _escape() -> str:
    """Return the pattern of what may directly precede a secret: an escape, or a short flag as in `-pSECRET`."""
    return PATTERNS.expand("{ESCAPED}|-[A-Za-z]")


def _share_words(patterns: list[str]) -> Iterator[str]:
    """Yield one pattern for all that begin with the same words, so that the text is searched for these only once."""
    words = [PATTERNS.expand(f"(?:{{{name}}})") for name in ("STRONG", "WEAK", "WORD")]
    for begins in words:
        rest = [each.removeprefix(begins) for each in patterns if each.startswith(begins)]
        yield f"{begins}(?={'|'.join(rest)})"
    yield from (each for each in patterns if not each.startswith(tuple(words)))


def context_scans(maybe_form: str) -> list[str]:
    """Return a pattern for each context; in the first, `maybe_form` has a weak name and what looks like a value."""
    data, expand = PATTERNS, PATTERNS.expand
    table, captures = data.tables["scan"], data.tables["captures"]["rows"]
    programs = sorted(
        {*(start for row in captures if "scan" not in row for start in row["starts"]), *options_by_program()}
    )
    return [
        maybe_form.format(expand(table["maybe"]), expand(table["like_a_value"])),
        *map(expand, table["contexts"]),
        *(expand(row["scan"]) for row in captures if "scan" in row),
        f"{any_of(programs)}[ \t]",
    ]


def _names() -> str:
    """Return the pattern of a name whose value may be near it."""
    return PATTERNS.expand(PATTERNS.tables["scan"]["names"])


def _start(each: Format) -> tuple[str, str]:
    """Return the literal, and as much of what follows as makes a false positive rare."""
    after = each.after[0] if each.after else Part()
    enough = ENOUGH if len(each.literal) < TELLING else 3
    return each.literal, f"[{after.of}]{{{min(after.least, enough)}}}" if after.chars else ""


def _group(starts: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield one alternative for all literals that are followed by the same."""
    table: dict[str, list[str]] = {}
    for literal, after in starts:
        table.setdefault(after, []).append(literal)
    for after, literals in table.items():
        yield any_of(sorted(set(literals))) + after


def _around(each: Format, *, look_behind: bool) -> str:
    index = next(i for i, part in enumerate(each.parts) if part.literal == each.literal)
    before = each.parts[index - 1]
    follows = ""
    for part in each.after[:3]:
        follows += re.escape(part.literal) or f"[{part.of}]{{{min(part.least, MORE)}}}"
        if part.least > MORE or part.least != part.most:
            break
    literal, front = re.escape(each.literal), f"[{before.of}]{{{min(before.least, BEFORE)}}}"
    return f"{literal}(?<={front}{literal})(?={follows})" if look_behind else f"{front}{literal}{follows}"


def to_ascii_bytes(text: str) -> bytes:
    """Return one byte per character, so that positions agree; no format has other characters than ASCII."""
    return text.encode("ascii", "replace")
