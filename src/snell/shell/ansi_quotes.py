"""Decode `$'...'`, the quoting in which the shell knows C's escapes."""

import re

from snell.system.lazy_regex import lazy_regex

_ESCAPE = lazy_regex(
    r"\\(?:([abeEfnrtv\\'\"?])|([0-7]{1,3})|x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|c(.))",
    re.DOTALL,
)
_LETTERS = dict(zip("abeEfnrtv", "\a\b\x1b\x1b\f\n\r\t\v", strict=True))


def decode_ansi_quotes(quoted: str) -> str | None:
    """Return the characters that the text between the quotes stands for; None where shells disagree about them."""
    if r"\x{" in quoted:
        return None
    try:
        text = _ESCAPE.sub(_character, quoted)
        # Escaped bytes were kept as lone surrogates; neighbours that form a character become one.
        return None if "\0" in text else text.encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")
    except ValueError:
        return None


def _character(escape: re.Match[str]) -> str:
    letter, octal, byte, short, long, control = escape.groups()
    if letter:
        return _LETTERS.get(letter, letter)
    if control:
        return chr(ord(control) & 0x1F)
    if octal or byte:
        value = int(octal, 8) & 0xFF if octal else int(byte, 16)
        return chr(value) if value < 0x80 else chr(0xDC00 + value)
    return chr(int(short or long, 16))
