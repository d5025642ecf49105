"""The known formats, ready to match. A pattern is compiled when its literal is first found."""

import re
from collections.abc import Iterator
from functools import cache, cached_property

from snell.redact.format_notation import Part, expand_form, parts_of, pattern_of
from snell.redact.pattern_file import PATTERNS
from snell.redact.value_shape import is_random, is_sample_of

Span = tuple[int, int, str]

# So many characters after a short literal make a false positive rare; a literal of this length needs fewer.
ENOUGH, TELLING = 8, 4
AFTER_WORD = 20  # characters after a literal that may directly follow a word
BEFORE = 6  # characters of its class that precede a literal in the middle of a secret
_LONGEST_LINE = 128  # characters before a secret in which the word for a hash is searched


class Format:
    """One form of one kind of secret."""

    def __init__(self, kind: str, form: str) -> None:
        self.kind = kind
        self.needs_random = form.startswith("~")
        self.ends_there = form.endswith("!")
        self.parts: tuple[Part, ...] = parts_of(form.removeprefix("~").removesuffix("!"))
        self.literal, before = _literal(self.parts)
        self.before = sum(each.most or len(each.literal) for each in before)  # characters in front of the literal
        self.after = self.parts[len(before) + 1 :]
        self.most = sum(each.most or len(each.literal) for each in self.parts)

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The pattern for text from the beginning of the secret on."""
        return re.compile(pattern_of(self.parts, ends_there=self.ends_there))

    @cached_property
    def _allowed(self) -> frozenset[str]:
        """The characters that may precede the literal."""
        return frozenset("".join(part.chars + part.literal for part in self.parts[: -len(self.after) - 1]))

    def match(self, text: str, at: int) -> Span | None:
        """Return the secret whose literal is at this position."""
        for start in self._starts(text, at):
            is_free = is_word_start(text, start)
            found = self.pattern.match(text, start) if is_free or self.may_follow_word else None
            if found and "/" in found[0] and PATTERNS.file_ending.match(text, found.end()):  # a folder and a file
                found = self.pattern.match(text, start, start + found[0].rindex("/"))
            if not found or found.end() <= at or not self._is_secret(text, start, found.end()):
                continue
            if is_free or _is_secret_after_word(found[0][len(self.literal) :]):
                return start, found.end(), self.kind
        return None

    @cached_property
    def may_follow_word(self) -> bool:
        """Return whether this format is recognised even directly after a word, as in `tokenghp_...`."""
        is_sign = len(self.literal) >= TELLING and self.literal[-1] in "_-" and self.literal[0].isalpha()
        return is_sign and bool(self.after) and self.after[0].least >= AFTER_WORD

    def _starts(self, text: str, at: int) -> Iterator[int]:
        if not self.before:
            yield at
            return
        start = at
        while start > max(0, at - self.before) and text[start - 1] in self._allowed:
            start -= 1
        yield from range(start, at)

    def is_sample(self, secret: str) -> bool:
        """Whether it has this format but is a documentation example."""
        body = secret if self.before else secret[len(self.literal) :]
        if self.needs_random and (body.isdigit() or not is_random(body, 20) or PATTERNS.no_secret.search(secret)):
            return True
        return is_sample_of(body)

    def _is_secret(self, text: str, start: int, end: int) -> bool:
        if self.is_sample(text[start:end]) or PATTERNS.file_ending.match(text, end):
            return False
        before = PATTERNS.hash_before if len(self.literal) >= TELLING else PATTERNS.hash_or_block_before
        return not before.search(text, max(0, start - _LONGEST_LINE), start)


def _is_secret_after_word(body: str) -> bool:
    """Whether the characters are of several kinds and mixed: not the end of an identifier."""
    kinds = (str.isupper, str.islower, str.isdigit)
    return is_random(body, AFTER_WORD) and all(any(map(kind, body)) for kind in kinds)


def is_word_start(text: str, at: int) -> bool:
    """Return whether a word can begin here: after no ASCII letter or digit, or after an escape such as `%3D`."""
    if at == 0 or not (before := text[at - 1]).isalnum() or not before.isascii():
        return True
    return bool(PATTERNS.escape_before.search(text, max(0, at - 8), at))


@cache
def formats() -> tuple[Format, ...]:
    """Return all formats, longer literals first: the most specific format names the kind."""
    made = [Format(kind, each) for kind, form in rows() for each in expand_form(form)]
    return tuple(sorted(made, key=lambda each: -len(each.literal)))


def rows() -> Iterator[tuple[str, str]]:
    """Yield each kind with one of its forms."""
    for table in PATTERNS.tables["formats"].values():
        for line in table.strip().splitlines():
            kind, *forms = line.split()
            yield from ((kind, form) for form in forms)


@cache
def by_literal() -> dict[str, tuple[Format, ...]]:
    table: dict[str, tuple[Format, ...]] = {}
    for each in formats():
        table[each.literal] = (*table.get(each.literal, ()), each)
    return table


@cache
def _lengths() -> dict[str, tuple[int, ...]]:
    """Map the first two characters to the lengths of the literals that begin with them, the longest first."""
    table: dict[str, set[int]] = {}
    for literal in by_literal():
        table.setdefault(literal[:2], set()).add(len(literal))
    return {start: tuple(sorted(lengths, reverse=True)) for start, lengths in table.items()}


def known_format(text: str, at: int) -> Span | None:
    """Return the secret of a known format whose literal is at this position; the longest, if there are several."""
    best: Span | None = None
    for each in formats_at(text, at):
        span = each.match(text, at)
        if span and (best is None or span[1] - span[0] > best[1] - best[0]):
            best = span
    return best


def formats_at(text: str, at: int) -> Iterator[Format]:
    """Yield the formats whose literal is at this position."""
    table = by_literal()
    for length in _lengths().get(text[at : at + 2], ()):
        yield from table.get(text[at : at + length], ())


def known_around(text: str, at: int) -> Span | None:
    """Return the secret of a format with a literal in its middle, a few characters from this position."""
    return next((span for each, place in formats_around(text, at) if (span := each.match(text, place))), None)


def formats_around(text: str, at: int) -> Iterator[tuple[Format, int]]:
    """Yield the formats with a literal in their middle a few characters from this position, and where it is."""
    near = text[at : at + BEFORE + _longest_middle()]
    for each in _with_middles():
        place = near.find(each.literal, 0, BEFORE + len(each.literal))
        if place >= 0:
            yield each, at + place


@cache
def _with_middles() -> tuple[Format, ...]:
    return tuple(each for each in formats() if each.before)


@cache
def _longest_middle() -> int:
    return max(len(each.literal) for each in _with_middles())


def _literal(parts: tuple[Part, ...]) -> tuple[str, tuple[Part, ...]]:
    """Return the literal to search for, and the parts before it."""
    if len(parts[0].literal) > 1:
        return parts[0].literal, ()
    index = max(range(1, len(parts)), key=lambda i: len(parts[i].literal))
    return parts[index].literal, parts[:index]
