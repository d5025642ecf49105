"""
The notation for formats: literal text, with `{w36}` for 36 letters or digits and `{w36-40}` for 36 to 40.

One notation gives the pattern that recognises the format and the literal that a scan searches for, so that these two
cannot disagree. `(a|b)` in a form stands for two forms. A `!` at the end means that the secret must end there, a `~` at
the beginning that it must look random.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from snell.redact.pattern_file import PATTERNS

_UUID = "{h8}-{h4}-{h4}-{h4}-{h12}"


def _members(of: str) -> str:
    """Return the characters of a class, in its order; hex is written small."""
    ranges = re.findall(r"\\?(.)(?:-(.))?", of.replace("A-F", ""))
    return "".join(chr(each) for first, last in ranges for each in range(ord(first), ord(last or first) + 1))


CLASSES = {letter: (_members(of), of) for letter, of in PATTERNS.tables["classes"].items()}
_LONGER = 255  # characters that a secret may have beyond the known ones


class Part(NamedTuple):
    """A literal, or a number of characters of one class."""

    literal: str = ""
    chars: str = ""
    of: str = ""
    least: int = 0
    most: int = 0


_part = cache(Part)  # a few dozen stand in hundreds of forms


def expand_form(form: str) -> Iterator[str]:
    """Yield the forms that a form with `(a|b)` stands for."""
    choice = re.search(r"\(([^()]*)\)", form)
    if not choice:
        yield form.replace("{u}", _UUID)
        return
    for each in choice[1].split("|"):
        yield from expand_form(form[: choice.start()] + each + form[choice.end() :])


def parts_of(form: str) -> tuple[Part, ...]:
    parts = []
    for literal, letter, least, most in re.findall(r"([^{}]+)|\{(\w)(\d+)(?:-(\d+))?\}", form):
        if literal:
            parts.append(Part(literal=literal))
        else:
            parts.append(_part("", *CLASSES[letter], int(least), int(most or least)))
    return tuple(parts)


def pattern_of(parts: tuple[Part, ...], *, ends_there: bool) -> str:
    """Return the pattern: of a secret that may be longer than known, or with `ends_there` of none that is."""
    written = [re.escape(each.literal) or f"[{each.of}]{{{each.least},{each.most}}}" for each in parts]
    last = parts[-1]
    if not last.chars:
        return "".join(written)
    if ends_there:
        return "".join(written) + f"(?![_{last.of}])"
    return "".join(written[:-1]) + f"[{last.of}]{{{last.least},{last.most + _LONGER}}}"
