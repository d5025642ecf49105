"""Decide whether the value of a name is a secret: quoted or bare, as code, settings and prose write it."""

import re

from snell.redact.foreign_names import names
from snell.redact.format_rules import Span, known_format
from snell.redact.pattern_file import PATTERNS
from snell.redact.secret_names import Strength, kind_of_name, strength_of
from snell.redact.value_shape import is_blank, is_fingerprint, is_invented, is_jumbled, is_random, is_wordy

LONGEST = 4_096
_LONG = 20  # characters of no word
_PLAIN_NAME = 6  # letters of a name that says nothing about its value, such as `key`


def name_before(text: str, at: int) -> str:
    """Return the part of the name that precedes the word that was found."""
    backwards = PATTERNS.name_goes_on.match(text[max(0, at - 60) : at][::-1])
    return backwards[0][::-1] if backwards else ""


def name_at(text: str, at: int) -> str:
    """Return the whole name that contains the word that was found."""
    found = PATTERNS.name_goes_on.match(text, at)
    return name_before(text, at) + (found[0] if found else "")


def value_at(text: str, at: int, name: str, strength: Strength, *, tight: bool, sure: bool) -> Span | None:
    """Return the value at this position, if it is a secret."""
    at = opening.end() if (opening := PATTERNS.before_value.match(text, at)) else at
    quote = PATTERNS.quote.match(text, at)
    start = quote.end() if quote else at
    if known := known_format(text, start):
        return known
    if PATTERNS.shown_before.search(text, max(0, at - 300), at) or PATTERNS.shown_text.match(text, at - 1):
        strength = "weak"
    if quote:
        end = end_of_quote(text, start, quote.group())
        accepted = is_quoted_secret(text[start:end], name, strength)
    else:
        # Only a password is likely to contain special characters, and then the line ends with it.
        bare = PATTERNS.bare.match(text, start)
        if bare and _is_compact_code(text, at, bare.end()):
            return None
        line = strength == "password" and not tight and PATTERNS.rest_of_line.match(text, start)
        end = line.end() if line else bare.end() if bare else start
        if opening and "\n" in opening[0] and (more := PATTERNS.block_goes_on.match(text, end)):
            end = more.end()
        is_code = text[end : end + 1] in {"(", "["}
        value = text[start:end]
        accepted = not is_code and _is_bare_secret(value, name, strength, tight=tight, sure=sure)
        if strength == "password" and not accepted and PATTERNS.plain_word.match(value):
            accepted = bool(PATTERNS.beside_settings.search(text, max(0, start - 300), start))
    return (start, end, kind_of_name(name)) if accepted else None


def _is_compact_code(text: str, start: int, end: int) -> bool:
    """Whether it is a name in an object of a program without spaces: `{password:t2,token:e}`."""
    is_member = text[start - 1 : start] == ":" and text[end : end + 1] in {",", "}"}
    is_name = is_member and PATTERNS.compact_name.match(text[start:end])
    return bool(is_name and PATTERNS.member_before.search(text, max(0, start - 90), start))


def value_before(text: str, at: int, pattern: re.Pattern[str]) -> Span | None:
    """Return a value before the position on the same line: `echo x | docker login --password-stdin`."""
    line = text.rfind("\n", max(0, at - 1_000), at) + 1
    found = pattern.search(text, max(line, at - 1_000), at)
    return None if not found or is_blank(found[1]) else (found.start(1), found.end(1), "password")


def end_of_quote(text: str, start: int, quote: str) -> int:
    """Return the end of a quoted value: its closing quote, or the end of the line."""
    end = text.find(quote, start, start + LONGEST)
    line = text.find("\n", start, start + LONGEST)
    if end < 0 or 0 <= line < end:
        end = line if line >= 0 else end
    return end if end >= 0 else min(len(text), start + LONGEST)


def is_quoted_secret(value: str, name: str, strength: Strength) -> bool:
    if "\\u" in value:
        value = PATTERNS.letter_escape.sub(lambda found: chr(int(found[1], 16)), value)
    if is_blank(value) or PATTERNS.path.match(value) or PATTERNS.no_quoted_value.match(value):
        return False
    if strength == "password":
        is_name = re.sub(r"\W|_", "", value).lower() == re.sub(r"\W|_", "", name).lower()  # as an enumeration has it
        return len(value) >= 3 and not _is_label(value, name) and not is_name
    if PATTERNS.scrambled.match(value):
        return True
    if strength == "weak":
        return _looks_secret(value, name)
    if PATTERNS.phrase.match(value):
        return kind_of_name(name) != "token"  # what a tokenizer is tried with
    if PATTERNS.hyphened_words.match(value) and PATTERNS.of_program.search(name):
        return True
    return len(value) >= 6 and not any(map(str.isspace, value)) and not _is_wordy_under(value, name)


def _is_label(value: str, name: str) -> bool:
    """Whether it is what a form shows, in any language: it names the secret, and has a space or no Latin letters."""
    is_text = (" " in value or not value.isascii()) and not any(map(str.isdigit, value))
    is_said = PATTERNS.label_name.search(name) and PATTERNS.label_text.match(value)
    return bool(is_said or PATTERNS.label.match(value) or (is_text and names().search(value)))


def _is_bare_secret(value: str, name: str, strength: Strength, *, tight: bool, sure: bool) -> bool:
    """Judge a value without quotes, which may be code: `token: str`, `password=password`, `key = other.key`."""
    value = value.rstrip(",;")
    if strength != "weak" and is_invented(value, strict=not (sure and strength == "password")):
        return True
    if sure and tight and strength == "password" and PATTERNS.dotted_words.match(value):
        return strength_of(value) is None and not PATTERNS.object_before.match(value)
    if is_plain(value) or PATTERNS.call.match(value.partition(",")[0]):
        return False
    is_numbered = tight and PATTERNS.word_and_number.match(value)
    if strength != "password" and PATTERNS.type_name.match(value) and not is_numbered:
        return False
    if strength == "weak":
        return _looks_secret(value, name)
    if PATTERNS.identifier.match(value):
        return _is_word_secret(value, name, strength, tight=tight, sure=sure)
    if strength == "password":
        return len(value) >= 3
    return len(value) >= (6 if tight else 10) and not _is_wordy_under(value, name)


def _is_word_secret(value: str, name: str, strength: Strength, *, tight: bool, sure: bool) -> bool:
    """Judge a value that may be the name of a variable."""
    if strength == "password":
        says_the_same = name.lower() in value.lower() or value.lower() in name.lower() or _is_label(value, name)
        return (tight and len(value) >= 4 and (sure or not says_the_same)) or is_jumbled(value)
    return (tight and sure and len(value) >= 8 and not is_wordy(value)) or is_jumbled(value.strip("_"))


def is_cell_secret(value: str, name: str, strength: Strength) -> bool:
    """Judge a cell of a table, whose column may also have words, types, dates and numbers."""
    if strength == "weak":
        return _looks_secret(value, name)
    if is_invented(value, strict=strength != "password"):
        return True
    is_term = PATTERNS.no_cell.match(value) or (len(value) < _LONG and PATTERNS.prose_after_password.match(value))
    is_words = is_wordy(value) and not PATTERNS.word_and_number.match(value)
    if len(value) < 6 or is_plain(value) or is_term or is_words or any(map(str.isspace, value)):
        return False
    return any(map(str.isdigit, value)) or is_jumbled(value)


def is_plain(value: str) -> bool:
    """Whether it is no value of its own: a placeholder, a path or a piece of code."""
    return is_blank(value) or bool(PATTERNS.path.match(value) or PATTERNS.call.match(value))


def _is_wordy_under(value: str, name: str) -> bool:
    """Whether it is words, a small number or a reference, which is no secret even under the name of a key."""
    if is_wordy(value):
        return not (PATTERNS.word_and_number.match(value) and PATTERNS.several_words.search(name))
    return value.isdigit() and len(value) <= 10


def _looks_secret(value: str, name: str) -> bool:
    """Judge a value under a weak name: a hash under `key` is a hash; under `acme_key` it is Acme's key."""
    if (value.isdigit() and name.lower().endswith("seed")) or value.endswith(f".{name}"):
        return False
    is_hash = is_fingerprint(value) or is_fingerprint(value.rsplit("-", 1)[-1])
    if not name.lower().rstrip("0123456789").endswith(("key", "keys")) and is_invented(value, strict=True):
        return True
    return is_random(value) and (len(name) > _PLAIN_NAME or name == "pass" or not is_hash)
