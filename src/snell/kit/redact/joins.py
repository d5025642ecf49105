"""A known format that was broken over lines: wrapped by a terminal, a mail or a continuation."""

import re

from snell.kit.redact.rules import ENOUGH, TELLING, Format, Span, by_literal, stands_free

_BREAK = re.compile(r"""["'`]?[ \t]*[+.&\\]?[ \t]*(?:\r?\n|\\r?\\n|\\n)[ \t]*(?:[+>|-][ \t]*)?["'`]?""")
_RUN = re.compile(r"""[^\s"'`\\]{1,512}""")
_WINDOW = 512
_BREAKS = 12


def joined(text: str, at: int) -> Span | None:
    """The secret that begins here, with the ends of lines left out."""
    run = _RUN.match(text, at)
    if not run or not _BREAK.match(text, run.end()):
        return None
    window = text[at : at + _WINDOW]
    whole, places = _without_breaks(window)
    for length in range(min(24, len(whole)), 1, -1):
        for each in by_literal().get(whole[:length], ()):
            found = (
                None
                if each.before
                or run.end() - at < _seen_at_once(each)
                or sum(part.least for part in each.parts) < _enough(each.literal)
                else each.pattern.match(whole)
            )
            if found and stands_free(text, at) and not each.is_sample(found[0]):
                last = min(found.end(), sum(part.most or len(part.literal) for part in each.parts))
                return at, at + places[last - 1] + 1, each.kind
    return None


def _seen_at_once(each: Format) -> int:
    """As much as the scans look for before the first break, so that both ways of scanning find the same."""
    after = each.after[0] if each.after else None
    more = min(after.least, ENOUGH if len(each.literal) < TELLING else 3) if after and after.chars else 0
    return len(each.literal) + more


def _enough(literal: str) -> int:
    """With less to go by, two words on two lines would do."""
    return 10 if len(literal) > 5 else 16


def _without_breaks(window: str) -> tuple[str, list[int]]:
    pieces: list[str] = []
    places: list[int] = []
    last = 0
    for number, found in enumerate(_BREAK.finditer(window)):
        if number >= _BREAKS:
            break
        pieces.append(window[last : found.start()])
        places += range(last, found.start())
        last = found.end()
    pieces.append(window[last:])
    places += range(last, len(window))
    return "".join(pieces), places
