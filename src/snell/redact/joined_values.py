"""
Find the value after the name of a secret, joined to it by a sign, words, a verb, a call, a space or the end of a line.

Less than a sign leaves a doubt whose value it is: there the value has to look more like one.
"""

import re
from typing import Literal

from snell.redact.named_values import is_plain
from snell.redact.pattern_file import PATTERNS
from snell.redact.value_shape import is_fingerprint, is_invented, is_random

Sort = Literal["password", "key", "pin", "pair", "stated"]  # what a name asks for
Place = tuple[int, int]
_CLOSING = {"{": "}", "「": "」", "『": "』", "“": "”", "«": "»", "‘": "’", "„": "“"}
_CLOSE = frozenset({"sign", "line", "call"})  # ways to join that leave no doubt whose value it is


def value_after(text: str, begins: int, end: int, sort: Sort) -> Place | None:
    """Return the value that is joined to the name that begins and ends here."""
    if not PATTERNS.maybe_made_up.search(text, end, end + 200):
        return None
    joins = {"sign": PATTERNS.by_sign, "line": PATTERNS.by_line, "call": PATTERNS.by_call, "word": PATTERNS.by_word}
    for join, pattern in (*joins.items(), ("space", PATTERNS.by_space)):
        found = pattern.match(text, end) if sort != "stated" or join == "word" else None
        if not found or (join == "call" and PATTERNS.getter.match(text, begins)):
            continue
        if span := _value(text, found.end(), sort, join) or _words(text, found.end(), sort, join, text[begins:end]):
            return span
    found = PATTERNS.by_digit.match(text, end)
    if found and (is_invented(found[1], strict=sort == "stated") or PATTERNS.hyphened_words.match(found[1])):
        return found.span(1)
    return _list_value(text, end, sort) if sort != "stated" else None


def _list_value(text: str, end: int, sort: Sort) -> Place | None:
    """Return a list of values after the name, or a value as a list of its bytes or characters."""
    found = PATTERNS.value_list.match(text, end)
    if found and all(is_invented(each, strict=True) for each in re.findall(r"""["']([^"'\n]+)""", found[1])[::2]):
        return found.span(1)
    found = PATTERNS.listed_value.match(text, end)
    return found.span(1) if found and sort != "pin" and is_text(found[1]) else None


def _value(text: str, at: int, sort: Sort, join: str) -> Place | None:
    """Return where the value at this position begins and ends, if it looks like one of this sort."""
    user = PATTERNS.user_before.match(text, at) if sort == "pair" else None
    found = PATTERNS.made_up_value.match(text, user.end() if user else at)
    if not found or (sort == "pair" and not user):
        return None
    start, end = found.span(2)
    if found[1]:
        close = text.find(_CLOSING.get(found[1], found[1]), start, start + 256)
        end = close if close >= 0 and "\n" not in text[start:close] else end
    value = text[start:end].rstrip() if found[1] else text[start:end].partition("-]{+")[0].rstrip(".,;:!?…*_]}")
    is_alone = PATTERNS.line_ends.match(text, start + len(value)) and not PATTERNS.next_name.match(text, start)
    if join == "line" and not is_alone:
        return None
    is_listed = join == "space" and "," in text[at - 3 : at]  # the next in a list of words
    is_named = bool(found[1]) and sort == "password" and not is_listed
    is_phrase = (
        found[1] and text[:at].rstrip(" \t*\"'=:(").lower().endswith("phrase") and PATTERNS.sentence.match(value)
    )
    is_of = is_phrase or _is_words(sort, value, join, is_quoted=bool(found[1]), is_named=is_named)
    is_of = is_of or _is_of(sort, value, "word" if is_named or (user and " " in user[0]) else join)
    return (start, start + len(value)) if is_of else None


def _is_words(sort: Sort, value: str, join: str, *, is_quoted: bool, is_named: bool) -> bool:
    """Whether it is words that are joined so that they can be a value of this sort."""
    few = is_quoted and sort != "stated" and (join in _CLOSE or (is_named and join == "word"))
    if (few and PATTERNS.few_words.match(value)) or (is_named and PATTERNS.joined_words.match(value)):
        return True
    may_be = sort == "password" and (is_named or join == "word" or (join == "sign" and "-" in value))
    if may_be and PATTERNS.hyphened_words.match(value):
        return True
    is_strong = sort in ("password", "pair") or (sort == "key" and join == "word")
    is_prose = join == "space" and PATTERNS.prose_after_password.match(value)
    return bool(is_strong and not is_prose and PATTERNS.word_number.match(value))


def _words(text: str, at: int, sort: Sort, join: str, name: str) -> Place | None:
    """Return a key that is written in groups, or a passphrase to the end of the line."""
    if sort not in ("password", "key") or join not in ("sign", "word", "space"):
        return None
    if found := PATTERNS.grouped_key.match(text, at):
        return found.span()
    if sort == "password" and join == "sign" and (found := PATTERNS.to_end.match(text, at)):
        return found.span()
    found = PATTERNS.words_to_end.match(text, at) if name.lower().endswith("phrase") else None
    return found.span(1) if found else None


def _is_of(sort: Sort, value: str, join: str) -> bool:
    """Whether a value that is joined like this looks like one of this sort."""
    is_key = sort != "pin" and is_random(value, 16) and not is_plain(value) and not PATTERNS.no_key.search(value)
    is_number = PATTERNS.pin.fullmatch(value) is not None
    if sort == "stated":
        return join == "word" and is_key and not is_fingerprint(value)
    if sort == "pin":
        return is_number
    if sort == "password":
        is_sure = (join == "word" and is_number) or (join in _CLOSE and is_key and is_fingerprint(value))
        return is_sure or is_invented(value, strict=join == "space")
    if is_key and (sort == "pair" or join != "space" or not is_fingerprint(value)):
        return True
    is_doubtful = sort != "pair" and join == "space" and not any(map(str.isdigit, value))
    return not is_doubtful and is_invented(value, strict=sort != "pair" or join != "word")


def is_text(numbers: str) -> bool:
    """Whether these numbers, or characters, are those of a text."""
    codes = re.findall(r"0x[0-9a-fA-F]+|[1-9][0-9]*", numbers)
    return "'" in numbers or all(32 <= int(each, 0) < 127 for each in codes)
