"""
Find the value near the name of a secret, joined to it by signs, words, tags, a call or the end of a line.

`contexts` and `config_values` know what a notation means by its signs. This module knows no notation. It passes over
what can join a name to a value, and asks of the value alone whether a person or a program made it up.
"""

import re

from snell.redact.format_rules import Span
from snell.redact.named_values import is_plain, name_before
from snell.redact.pattern_file import PATTERNS
from snell.redact.secret_names import kind_of_name, strength_of
from snell.redact.value_shape import is_fingerprint, is_invented, is_random

_CLOSING = {"{": "}", "「": "」", "『": "』", "“": "”", "«": "»", "‘": "’", "„": "“"}
_PAIR_NAMES = frozenset({"login", "logins", "creds", "cred", "credentials", "account", "auth", "wifi", "wi-fi"})
_CLOSE = frozenset({"sign", "line", "call"})  # ways to join that leave no doubt whose value it is
_REACH = 300  # characters of a call


def near_value(text: str, at: int) -> Span | None:
    """Return the value of the name, call or option at this position, if it looks made up."""
    if text[at] in " \t\"'":
        return _option(text, at + 1)
    if beside := PATTERNS.beside_user.match(text, at):
        group = beside.lastindex or 0
        return (*beside.span(group), "password") if is_invented(beside[group], strict=True) else None
    begins, goes_on = at - len(name_before(text, at)), PATTERNS.name_goes_on.match(text, at)
    name = text[begins : goes_on.end() if goes_on else at].rstrip("-._")
    end = begins + len(name)
    if end <= at or PATTERNS.no_name_before.search(text, max(0, begins - 80), begins):
        return None
    kind = kind_of_name(name)
    for sort in _sorts_of(text, begins, name):
        if span := _value_joined(text, begins, end, sort) or (
            _value_before(text, begins) if sort in {"password", "key"} else None
        ):
            return (*span, "pin" if sort == "pin" else kind)
    span = _argument(text, end, name)
    return (*span, kind) if span else None


def _sorts_of(text: str, begins: int, name: str) -> tuple[str, ...]:
    """Return what the value may look like: a password, a key, a number, or a user and a password."""
    end = begins + len(name)
    if PATTERNS.pin_name.search(text, max(0, begins - 24), end):
        return ("pin", "password") if name.lower() == "passcode" else ("pin",)
    strength, small = strength_of(PATTERNS.text_file.sub("", name)), name.lower().lstrip("-")
    if small in _PAIR_NAMES:
        return ("pair", "key")
    is_named = PATTERNS.by_sign.match(text, end) or PATTERNS.user_named.search(text, max(0, begins - 60), begins)
    is_verb = small == "pass" and not is_named  # no sign follows, and no user precedes
    if (strength == "password" or small in {"pass", "pw", "seed", "mnemonic"}) and not is_verb:
        return ("password",)
    is_vague = strength == "weak" and small.rstrip("0123456789").endswith(("key", "keys", "pass"))
    if (strength and not is_vague) or PATTERNS.key_name.search(text, max(0, begins - 24), end):
        return ("key",)
    return ("stated",) if strength else ()


def _value_joined(text: str, begins: int, end: int, sort: str) -> tuple[int, int] | None:
    """Return the value that is joined to the name that ends here."""
    if not PATTERNS.maybe_made_up.search(text, end, end + 200):
        return None
    joins = {"sign": PATTERNS.by_sign, "line": PATTERNS.by_line, "call": PATTERNS.by_call, "word": PATTERNS.by_word}
    for join, pattern in (*joins.items(), ("space", PATTERNS.by_space)):
        if sort == "stated" and join != "word":
            continue
        found = pattern.match(text, end) if join != "call" or not PATTERNS.getter.match(text, begins) else None
        if found and (span := _value(text, found.end(), sort, join)):
            return span
    found = PATTERNS.by_digit.match(text, end)
    if found and is_invented(found[1], strict=True):
        return found.span(1)
    if sort == "stated":
        return None
    found = PATTERNS.value_list.match(text, end)
    if found and all(is_invented(each, strict=True) for each in re.findall(r"""["']([^"'\n]+)""", found[1])[::2]):
        return found.span(1)
    found = PATTERNS.listed_value.match(text, end)
    return found.span(1) if found and sort != "pin" and _is_text(found[1]) else None


def _value(text: str, at: int, sort: str, join: str) -> tuple[int, int] | None:
    """Return where the value at this position begins and ends, if it looks like one of this sort."""
    user = PATTERNS.user_before.match(text, at) if sort == "pair" else None
    found = PATTERNS.made_up_value.match(text, user.end() if user else at)
    if not found or (sort == "pair" and not user):
        return None
    start, end = found.span(2)
    if found[1]:
        close = text.find(_CLOSING.get(found[1], found[1]), start, start + 256)
        end = close if close >= 0 and "\n" not in text[start:close] else end
    value = text[start:end] if found[1] else text[start:end].rstrip(".,;:!?…*_]}")
    if join == "line" and PATTERNS.next_name.match(text, start):
        return None
    if join == "line" and not PATTERNS.line_ends.match(text, start + len(value)):
        return None
    is_words = found[1] and join in _CLOSE and sort != "stated" and PATTERNS.few_words.match(value)
    return (start, start + len(value)) if is_words or _is_of(sort, value, join) else None


def _is_of(sort: str, value: str, join: str) -> bool:
    """Whether a value that is joined like this looks like one of this sort."""
    is_key = sort != "pin" and is_random(value, 16) and not is_plain(value) and not PATTERNS.no_key.search(value)
    is_number = PATTERNS.pin.fullmatch(value) is not None
    if sort == "stated":
        return join == "word" and is_key and not is_fingerprint(value)
    if sort == "pin":
        return is_number
    if sort == "password":
        return (join == "word" and is_number) or is_invented(value, strict=join == "space")
    if is_key and (sort == "pair" or join in _CLOSE or not is_fingerprint(value)):
        return True
    return is_invented(value, strict=True) and (sort == "pair" or join != "space" or any(map(str.isdigit, value)))


def _is_text(numbers: str) -> bool:
    """Whether these numbers, or characters, are those of a text."""
    return "'" in numbers or all(
        32 <= int(each, 0) < 127 for each in re.findall(r"0x[0-9a-fA-F]+|[1-9][0-9]*", numbers)
    )


def _argument(text: str, end: int, name: str) -> tuple[int, int] | None:
    """Return the argument that looks like a password, of a call such as `connect("host", "user", "x")`."""
    call = PATTERNS.login_call.match(text, end)
    if not call or not PATTERNS.login_name.search(name) or PATTERNS.getter.match(name):
        return None
    is_sure = PATTERNS.loose_call.search(name)
    close = text.find(")", call.end(), call.end() + _REACH)
    found = [*PATTERNS.literal.finditer(text, call.end(), close if close >= 0 else call.end() + _REACH)]
    for each in reversed(found):
        value = each[2]
        is_later = "," in text[call.end() : each.start()]
        is_key = is_later and is_random(value, 20) and not PATTERNS.no_invention.search(value)
        is_first = not is_later and len(found) > 1 and not PATTERNS.signing_name.search(name)
        is_words = PATTERNS.signing_name.search(name) and " " in value and PATTERNS.some_words.match(value)
        if is_key or is_words or (not is_first and is_invented(value, strict=not (is_sure and is_later))):
            return each.span(2)
    return None


def _value_before(text: str, begins: int) -> tuple[int, int] | None:
    """Return the value before `as password`, `> password.txt` or a comment that names it."""
    line = max(text.rfind("\n", max(0, begins - _REACH), begins) + 1, begins - _REACH, 0)
    for found in (each.search(text, line, begins) for each in (PATTERNS.value_as, PATTERNS.echo_into)):
        is_words = found and found[1] and (PATTERNS.few_words.match(found[2]) or any(map(str.isdigit, found[2])))
        if found and not is_plain(found[2]) and (is_words or is_invented(found[2])):
            return found.span(2)
    found = PATTERNS.literal_before_comment.search(text, line, begins)
    if found and is_invented(found[1], strict=True):
        return found.span(1)
    found = PATTERNS.list_before_comment.search(text, line, begins)
    return found.span(1) if found and _is_text(found[1]) else None


def _option(text: str, at: int) -> Span | None:
    """Return the value of a short option such as `-p` of any program."""
    found = PATTERNS.short_option.match(text, at)
    if not found or not is_invented(found[4], strict=True):
        return None
    is_sure = found[1] or PATTERNS.user_option.search(text, max(0, at - 200), at)
    return (*found.span(4), "password") if is_sure else None
