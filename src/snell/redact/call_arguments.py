"""Find the arguments that are secrets: of a call that opens a session, signs or encrypts."""

from collections.abc import Iterator

from snell.redact.pattern_file import PATTERNS
from snell.redact.value_shape import is_invented, is_random

_REACH = 300  # characters of a call


def secret_arguments(text: str, end: int, name: str) -> Iterator[tuple[int, int]]:
    """Yield the argument that looks like a password, of a call such as `connect("host", "user", "x")`."""
    call = PATTERNS.login_call.match(text, end)
    if not call or not PATTERNS.login_name.search(name) or PATTERNS.getter.match(name):
        return
    is_signing, is_sure = PATTERNS.signing_name.search(name), PATTERNS.loose_call.search(name)
    close = text.find(")", call.end(), last := call.end() + _REACH)
    found = [*PATTERNS.literal.finditer(text, call.end(), close if close >= 0 else last)]
    is_sole = len(found) == 1 and PATTERNS.sole_call.search(name)
    for each in reversed(found):
        value, is_later = each[2], "," in text[call.end() : each.start()]
        follows_user = not is_signing and PATTERNS.user_before_value.search(text, call.end(), each.start())
        if (is_later or is_signing) and is_random(value, 20) and not PATTERNS.no_key.search(value):
            yield each.span(2)
            continue
        is_words = is_signing and " " in value and PATTERNS.some_words.match(value)
        if follows_user or (is_signing and is_later):
            is_words = is_words or (PATTERNS.hyphened_words if "-" in value else PATTERNS.joined_words).match(value)
        is_loose = is_sole or follows_user or is_signing or (is_sure and is_later)
        is_first = not is_later and len(found) > 1 and not is_signing
        if is_words or (not is_first and is_invented(value, strict=not is_loose)):
            yield each.span(2)
            return
