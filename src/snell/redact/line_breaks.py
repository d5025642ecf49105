"""
Find a known format that was broken over lines by a terminal, a mail, a quotation or a diff.

A line may end anywhere in a secret, also in the literal that it is recognised by. So the words on both sides of a break
are joined, unless they look like prose or code, and the formats are searched in the result.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator

from snell.redact import scan
from snell.redact.format_rules import Format, Span, formats_around, formats_at, is_word_start
from snell.redact.normalise import View
from snell.redact.pattern_file import PATTERNS
from snell.redact.value_shape import changes, is_random

_LONGEST, _LINES = 8_192, 24  # characters of a word on one line, and lines of one secret
_LEAST = 11  # length of the shortest format
_SHORTEST = 18  # a shorter match is too easily a coincidence, unless it is very mixed
_MORE = 8  # minimum length of a further line, if the secret is complete without it
_CHANGES = 0.25  # share of the letters of a secret that follow one of the other case
_ESCAPE = 40  # characters that tell whether a word precedes a secret
_BACK = 200  # how far a secret may begin before its literal

_WORDS = bytes(ord("a" if PATTERNS.word_sign.match(chr(each)) else " ") for each in range(256))
_BREAKS = tuple(
    re.compile(PATTERNS.expand(each).encode(), re.DOTALL) for each in PATTERNS.tables["line_breaks"]["breaks"]
)
_ENDING = re.compile(PATTERNS.tables["line_breaks"]["ending"].encode())
# A `+` or `-` at the start of a line may be part of the secret, so these readings are tried as well: every such sign
# belongs to it, or every one but the first.
_READINGS = tuple(re.compile(f"{sign}{PATTERNS.safe_marks.pattern}".encode()) for sign in ("", "[+-]"))

Break = tuple[int, int]  # where the word before it ends, and where the one after it begins


def secrets_across_lines(text: str, data: bytes) -> list[Span]:
    """Return the secrets that cross the ends of lines."""
    found = sorted((each.start(), each.end(1), each.end()) for breaks in _BREAKS for each in breaks.finditer(data))
    if not found:
        return []
    folded = data.translate(_WORDS)
    endings = [_ENDING.search(data, max(0, start - 8), start) for start, _, _ in found]
    ends = [start - (len(ending[0]) if ending else 0) for (start, _, _), ending in zip(found, endings, strict=True)]
    places = list(zip(ends, (each[2] for each in found), strict=True))
    words = dict(_words(text, folded, places))
    signs = [end < start or data[after:last].strip() for end, (start, after, last) in zip(ends, found, strict=True)]
    near = [n for n in range(len(found)) if any(signs[max(0, n - 1) : n + 2])]
    for marks in _READINGS if near else ():
        places = [_with_signs(data, found[n], ends[n], marks) for n in near]
        words |= dict(_words(text, folded, places))
    return _secrets_in_words(list(words.values()))


def _with_signs(data: bytes, found: tuple[int, int, int], end: int, marks: re.Pattern[bytes]) -> Break:
    start, after, last = found
    other = marks.match(data, after, last)
    return (start if data[end : end + 1] == b"=" else end), (other.end() if other else last)


def _secrets_in_words(words: list[View]) -> list[Span]:
    firsts = [0]
    for word in words:
        firsts.append(firsts[-1] + len(word.text) + 1)
    together = scan.to_ascii_bytes("\n".join(word.text for word in words))
    found: list[Span] = []
    beginnings, middles = scan.scans().formats(together)
    beginnings = sorted({*beginnings, *_line_starts(words, firsts)})
    for places, secret in ((beginnings, _begins), (middles, _around)):
        end = 0
        for at in places:
            index = bisect_right(firsts, at) - 1
            word, first = words[index], firsts[index]
            span = secret(word, at - first) if at >= end else None
            if span:
                end = first + span[1]
                found.append((*(word.place_of(span[0], span[1]) or span[:2]), span[2]))
    return found


def _line_starts(words: list[View], firsts: list[int]) -> Iterator[int]:
    """Yield the positions of line starts at which a known format begins; here it need not be preceded by a blank."""
    for word, first in zip(words, firsts, strict=False):
        yield from (first + at for at in word.starts[1:] if next(formats_at(word.text, at), None))


def _words(text: str, folded: bytes, breaks: list[Break]) -> Iterator[tuple[tuple[int, str], View]]:
    """Yield the joined words at each break with what identifies them; those of several lines are one."""
    pieces: list[tuple[int, int]] = []
    for (end, after), following in zip(breaks, [*(each[0] for each in breaks[1:]), len(folded)], strict=True):
        start = pieces[-1][0] if pieces else max(0, end - _LONGEST)
        space = folded.rfind(b" ", start, end)
        if space >= 0 or not pieces:
            if sum(stop - first for first, stop in pieces) >= _LEAST:
                yield _word(text, pieces)
            pieces = [(max(space + 1, end - _LONGEST, 0), end)]
        stop = folded.find(b" ", after, min(after + _LONGEST, following))
        pieces.append((after, stop if stop >= 0 else min(after + _LONGEST, max(following, after))))
    if sum(stop - first for first, stop in pieces) >= _LEAST:
        yield _word(text, pieces)


def _word(text: str, pieces: list[tuple[int, int]]) -> tuple[tuple[int, str], View]:
    word = "".join(text[start:end] for start, end in pieces)
    return (pieces[0][0], word), View(word, lambda: ((text[start:end], start, end - start) for start, end in pieces))


def _begins(word: View, at: int) -> Span | None:
    """Return the secret whose literal is here, if it needs more than one line."""
    is_first = at in word.starts[bisect_right(word.starts, at) - 1 :][:1]
    if not is_first and not is_word_start(word.text, at):
        return None
    low = at if is_first else max(0, at - _ESCAPE)
    known = tuple(formats_at(word.text, at))
    return _extend(word, low, at, known, at - low) if known else None


def _around(word: View, at: int) -> Span | None:
    """Return the same for a literal in the middle of a secret."""
    near = word.starts[bisect_right(word.starts, at - _BACK) : bisect_right(word.starts, at)]
    for known, place in formats_around(word.text, at):
        for low in (max(0, at - _BACK), *near):
            if span := _extend(word, low, place, (known,), place - low):
                return span
    return None


def _extend(word: View, low: int, at: int, known: tuple[Format, ...], place: int) -> Span | None:
    """Join following lines and return the longest joined text that is a secret; None if it is all on one line."""
    best: Span | None = None
    longest = max(each.most for each in known)
    begins = at  # of the line that was added last
    first = bisect_right(word.starts, at)
    for end in [*word.starts[first : first + _LINES], len(word.text)][: _LINES + 1]:
        span = max(
            (_match(each, word.text, low, place, end) for each in known),
            key=lambda found: found[1] - found[0] if found else 0,
        )
        if not best and span:
            if not _is_secret(word.text[span[0] : span[1]], known):
                return None
            best = span
        elif best and span and span[1] > begins and is_random(word.text[begins : span[1]], _MORE):
            best = span
        if begins - at > longest or (best and begins > at and best[1] < end):
            break
        begins = end
    is_broken = best and bisect_right(word.starts, best[0]) != bisect_right(word.starts, best[1] - 1)
    return best if is_broken else None


def _match(known: Format, text: str, low: int, place: int, end: int) -> Span | None:
    span = known.match(text[low:end], place)
    return (low + span[0], low + min(span[1], span[0] + known.most), known.kind) if span else None


def _is_secret(secret: str, known: tuple[Format, ...]) -> bool:
    """Whether the joined text is a secret and not just two words on two lines."""
    body = secret if known[0].before else secret[len(known[0].literal) :]
    is_mixed = body != body.lower() and body != body.upper()
    if len(secret) < _SHORTEST and not (is_mixed and re.search("[0-9]", body) and changes(body) * 3 >= len(body)):
        return False
    return is_random(body, _MORE) or (len(secret) >= _SHORTEST and changes(body) >= _CHANGES * len(body))
