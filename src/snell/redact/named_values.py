"""Decide whether the value of a name is a secret: quoted or bare, as code, settings and prose write it."""

import re

from snell.redact.format_rules import Span, known_format
from snell.redact.secret_names import Strength, kind_of_name
from snell.redact.value_shape import is_blank, is_fingerprint, is_random, is_wordy

LONGEST = 4_096
_NAME_GOES_ON = re.compile(r"[A-Za-z0-9_.-]{0,80}")
QUOTE = re.compile(r"""\\{0,3}(?:"{3}|'{3}|["'`])""")
_BLOCK = re.compile(r"(?<=[: ])[|>][-+]?[ \t]{0,3}\r?\n[ \t]{1,40}(?=\S)")  # YAML has the value on the next line
_LINE = re.compile(r"""[^\s"'`\\]{3,256}(?=[ \t]*(?:\n|\\n|\Z))""")
BARE = re.compile(r"""(?:[^\s"'`,;&|<>(){}\[\]\\]|,(?=[^\s"'`,;&|<>(){}\[\]\\])|\\(?=[^\s"'`\\nrtu])){1,4096}""")
PATH = re.compile(  # the first part in small letters, because a key in base64 may begin with a slash, too
    r"(?:~|\.{1,2}|/[a-z]{2,12})/[\w./-]+\Z|/[a-z]{2,12}\Z|[\w./-]+\.(?:pem|key|json|ya?ml|toml|txt|py|js|ts|md|crt|env|com|org"
    r"|io)\Z|https?://[^@]*\Z"
)
_CHECKS = re.compile(r"(?:[a-z_]+(?::[\w,.]+)?\|)+[a-z_]+(?::[\w,.]+)?\Z")  # `required|string|min:8`
CALL = re.compile(r"[*&][a-z_.]+\Z|[A-Za-z_][\w.]*[(\[]|new\s|await\s|[a-z_]+(?:\.[a-z_]+)+\Z", re.IGNORECASE)
# The name of a type, as an annotation has it: `key: PKCS12PrivateKeyTypes`.
_TYPE = re.compile(r"(?:[A-Z]{1,8}\d{0,4}(?:[A-Z][a-z]{2,}\d{0,2})+|(?:[A-Z][a-z]{2,}\d{0,3}){2,})\Z")
_LETTERS = re.compile(r"[A-Za-z_][A-Za-z_.]*\Z")


def name_before(text: str, at: int) -> str:
    """Return the part of the name that precedes the word that was found."""
    backwards = _NAME_GOES_ON.match(text[max(0, at - 60) : at][::-1])
    return backwards[0][::-1] if backwards else ""


def name_after(text: str, at: int) -> str:
    """Return the rest of the name from the word that was found."""
    found = _NAME_GOES_ON.match(text, at)
    return found[0] if found else ""


def value_at(text: str, at: int, name: str, strength: Strength, *, tight: bool, sure: bool) -> Span | None:
    """Return the value at this position, if it is a secret."""
    at = block.end() if (block := _BLOCK.match(text, at)) else at
    quote = QUOTE.match(text, at)
    start = quote.end() if quote else at
    known = known_format(text, start)
    if known:
        return known
    if quote:
        end = end_of_quote(text, start, quote.group())
        accepted = is_quoted_secret(text[start:end], name, strength)
    else:
        # Only a password is likely to contain special characters, and then the line ends with it.
        bare = (strength == "password" and not tight and _LINE.match(text, start)) or BARE.match(text, start)
        end = bare.end() if bare else start
        is_call = text[end : end + 1] in {"(", "["}
        accepted = not is_call and _is_bare_secret(text[start:end], name, strength, tight=tight, sure=sure)
    return (start, end, kind_of_name(name)) if accepted else None


def end_of_quote(text: str, start: int, quote: str) -> int:
    """Return the end of a quoted value: its closing quote, or the end of the line."""
    end = text.find(quote, start, start + LONGEST)
    line = text.find("\n", start, start + LONGEST)
    if end < 0 or 0 <= line < end:
        end = line if line >= 0 else end
    return end if end >= 0 else min(len(text), start + LONGEST)


def is_quoted_secret(value: str, name: str, strength: Strength) -> bool:
    if is_blank(value) or PATH.match(value) or value[0].isspace() or _CHECKS.match(value):
        return False
    if strength == "password":
        return len(value) >= 3
    if strength == "weak":
        return _looks_secret(value, name)
    return len(value) >= 6 and not any(map(str.isspace, value)) and not _is_plain(value, name)


def _is_bare_secret(value: str, name: str, strength: Strength, *, tight: bool, sure: bool) -> bool:
    """Judge a value without quotes, which may be code: `token: str`, `password=password`, `key = other.key`."""
    value = value.rstrip(",;")
    if is_blank(value) or PATH.match(value) or CALL.match(value):
        return False
    if strength != "password" and _TYPE.match(value):
        return False
    if strength == "weak":
        return _looks_secret(value, name)
    if _LETTERS.match(value):
        says_the_same = name.lower() in value.lower() or value.lower() in name.lower()
        if strength == "password":
            return tight and len(value) >= 4 and (sure or not says_the_same)
        return tight and sure and len(value) >= 8 and not is_wordy(value)
    if strength == "password":
        return len(value) >= 3
    return len(value) >= (6 if tight else 10) and not _is_plain(value, name)


def _is_plain(value: str, name: str) -> bool:
    """Whether it is words, a small number or a reference, which is no secret even under the name of a key."""
    if is_wordy(value):
        return not (_WORD_AND_NUMBER.match(value) and _SEVERAL_WORDS.search(name))
    return value.isdigit() and len(value) <= 10


# `API_SECRET=rosebud19` was invented by a person, `token = "python3"` is a word of a program.
_WORD_AND_NUMBER = re.compile(
    r"(?!.*(?:sha|md|aes|rsa|hmac|crypt|argon|pbkdf|version|step|base|utf))"
    r"(?:[a-z]{5,}\d{2,3}|(?-i:[A-Z][a-z]{3,}[/_.-][A-Z][a-z]{3,}\d{1,3}))\Z",
    re.IGNORECASE,
)
_SEVERAL_WORDS = re.compile(r"[A-Za-z0-9][_.-][A-Za-z]|[a-z][A-Z]|secret\Z")


def _looks_secret(value: str, name: str) -> bool:
    """Judge a value under a weak name: a hash under `key` is a hash; under `acme_key` it is Acme's key."""
    is_hash = is_fingerprint(value) or is_fingerprint(value.rsplit("-", 1)[-1])
    return is_random(value) and (len(name) > _PLAIN_NAME or not is_hash)


_PLAIN_NAME = 6
