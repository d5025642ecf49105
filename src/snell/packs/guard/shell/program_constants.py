"""
Constants that a short program puts together, as the strings that they become.

`bytes.fromhex("...")`, `''.join(map(chr, [...]))`, `"...".split("").reverse().join("")`: a program that spells its
strings out this way is read as if it had written them.
"""

import base64
import binascii
import codecs
import re
from collections.abc import Callable

from snell.packs.guard.known_names import pattern
from snell.packs.guard.known_values import UNKNOWN
from snell.system.lazy_regex import lazy_regex

_S = r"«(\d+)»"
_NUMBERS = r"((?:0x[0-9a-fA-F]+|\d+)(?:\s*,\s*(?:0x[0-9a-fA-F]+|\d+))*)\s*,?\s*"
_MOST_NUMBERS = 2_000

_HEX = rf"(?:(?:bytes|bytearray)\.fromhex|(?:binascii\.)?(?:unhexlify|a2b_hex)|hex2bin)\(\s*{_S}\s*\)"
_BASE64 = (
    rf"(?:(?:base64\.)?(?:standard_|urlsafe_)?b64decode|base64_decode|atob|decode_base64|"
    rf"(?:Base64\.)?(?:strict_|urlsafe_)?decode64|(?:binascii\.)?a2b_base64)\s*\(\s*{_S}\s*\)"
)
_NAMED = (
    rf"(?:Buffer\.from|codecs\.decode)\(\s*{_S}\s*,\s*{_S}\s*\)"  # the encoding comes behind the text
    rf"|\[\s*{_S}\s*\]\.pack\(\s*{_S}\s*\)|{_S}\.unpack1?\(\s*{_S}\s*\)(?:\[0\]|\.first)?"
)
_PACKED = rf"\bpack\s*\(?\s*{_S}\s*,\s*{_S}\s*\)?"
_CODES = (
    rf"String\.fromCharCode\(\s*(?:\.\.\.\s*)?\[?\s*{_NUMBERS}\]?\s*\)|\b(?:bytes|bytearray)\(\s*[\[(]\s*{_NUMBERS}[\])]\s*\)"
    rf"|\bmap\(\s*chr\s*,\s*[\[(]\s*{_NUMBERS}[\])]\s*\)|\bpack\s*\(?\s*«\d+»\s*,\s*{_NUMBERS}\)?|\bchr\(\s*{_NUMBERS}\)"
    rf"|[\[(]?\s*chr\(\s*\w+\s*\)\s*for\s+\w+\s+in\s*[\[(]\s*{_NUMBERS}[\])]\s*\]?|\[\s*{_NUMBERS}\]\.pack\(\s*«\d+»\s*\)"
)
_BACKWARDS = (
    rf"{_S}\[::-1\]|\bstrrev\(\s*{_S}\s*\)|{_S}\.reverse\b(?!\()|\breverse\s*\(?\s*{_S}\s*\)?|\breversed\(\s*{_S}\s*\)"
    rf"|(?:{_S}\.split\(\s*«\d+»\s*\)|\[\.\.\.\s*{_S}\s*\])\.reverse\(\)\.join\(\s*«\d+»\s*\)"
)
_SAME = rf"{_S}\.(?:decode|toString|to_s|strip|trim|encode|chomp|valueOf)\(\s*(?:«\d+»\s*)?\)|«\d+»\.join\(\s*{_S}\s*\)"
_REPLACED = lazy_regex(rf"{_S}\.(?:replace|replaceAll|gsub|tr)\(\s*{_S}\s*,\s*{_S}\s*\)")
_ANY = pattern("decodes_constants")


def fold_constants(masked: str, at: Callable[[str], str], keep: Callable[[str], str]) -> str:
    """Return the code with expressions of constants replaced by the strings that they stand for."""
    if "import" in masked:
        masked = _resolve_aliases(masked)
    if "join" in masked:
        masked = _LISTED.sub(lambda found: keep(at(found[1]).join(map(at, re.findall(_S, found[2])))), masked)
    if _ANY.search(masked) is None:
        return masked
    for searcher, decode in _STEPS:
        masked = searcher.sub(lambda found, decode=decode: _fold(found, decode, at, keep), masked)  # type: ignore[misc]  # the default binds the loop's value
    return _REPLACED.sub(lambda found: keep(at(found[1]).replace(at(found[2]), at(found[3]))), masked)


_LISTED = lazy_regex(rf"{_S}\.join\(\s*[\[(]\s*((?:«\d+»\s*,?\s*){{1,200}})[\])]\s*\)")
_ALIAS = lazy_regex(r"\bimport\s+(\w[\w.]*)\s+as\s+(\w+)")


def _resolve_aliases(masked: str) -> str:
    """Replace other names by the imported ones: `from shutil import rmtree as r`."""
    for name, other in _ALIAS.findall(masked)[:10]:
        masked = re.sub(rf"(?<![\w.«]){other}(?=[.(])", name, masked)
    return masked


def plain_text(text: str) -> str:
    """Return a text decoded from base64 or hex; UNKNOWN if it is neither."""
    for decode in (_decode_base64, _decode_hex):
        try:
            return decode([text])
        except (ValueError, binascii.Error):
            continue
    return UNKNOWN


def _fold(
    found: re.Match[str], decode: Callable[[list[str]], str], at: Callable[[str], str], keep: Callable[[str], str]
) -> str:
    given = [group for group in found.groups() if group is not None]
    try:
        return keep(decode([at(group) for group in given] if decode is not _decode_codes else given))
    except (ValueError, LookupError, binascii.Error):
        return found[0]


def _decode_hex(given: list[str]) -> str:
    return bytes.fromhex(given[0]).decode("utf-8")


def _decode_base64(given: list[str]) -> str:
    text = given[0].replace("-", "+").replace("_", "/")
    return base64.b64decode(text + "=" * (-len(text) % 4), validate=True).decode("utf-8")


def _decode_named(given: list[str]) -> str:
    text, encoding = given
    if encoding.lower().replace("_", "").replace("-", "") in ("rot13", "rot"):
        return codecs.decode(text, "rot13")
    if encoding.lower() in ("hex", "h*", "h"):
        return _decode_hex([text])
    if encoding.lower() in ("base64", "base64url", "m", "m0"):
        return _decode_base64([text])
    raise LookupError(encoding)


def _decode_codes(given: list[str]) -> str:
    numbers = [
        int(number, 0) if "x" in number else int(number) for number in re.split(r"\s*,\s*", given[0].strip(", "))
    ]
    if len(numbers) > _MOST_NUMBERS:
        raise ValueError("more numbers than are read")
    return "".join(map(chr, numbers))


_STEPS: tuple[tuple[re.Pattern[str], Callable[[list[str]], str]], ...] = tuple(
    (lazy_regex(pattern), decode)
    for pattern, decode in (
        (_CODES, _decode_codes),
        (_HEX, _decode_hex),
        (_BASE64, _decode_base64),
        (_NAMED, _decode_named),
        (_PACKED, lambda given: _decode_named([given[1], given[0]])),
        (_BACKWARDS, lambda given: given[0][::-1]),
        (_SAME, lambda given: given[0]),
    )
)
