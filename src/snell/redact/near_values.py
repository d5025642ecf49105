"""
Find the value near the name of a secret: after it, before it, or among the arguments of a call.

`contexts` and `config_values` know what a notation means by its signs. This module knows no notation: it says what the
name asks for, and the modules below it ask of a value alone whether a person or a program made it up.
"""

import re

from snell.redact.call_arguments import secret_arguments
from snell.redact.config_values import short_option
from snell.redact.format_rules import Span
from snell.redact.joined_values import Sort, value_after
from snell.redact.named_values import name_before
from snell.redact.pattern_file import PATTERNS
from snell.redact.secret_names import kind_of_name, strength_of
from snell.redact.value_shape import is_invented
from snell.redact.values_before import stated_before

_BEFORE = 1_000  # characters in which the variables of a shell are looked for
_PAIR_NAMES, _NUMBER_NAMES = map(PATTERNS.words, ("pair_names", "number_names"))


def near_values(text: str, at: int) -> list[Span]:
    """Return the values of the name, call or option at this position, if they look made up."""
    if text[at] in " \t\"'":
        return short_option(text, at + 1)
    if beside := PATTERNS.beside_user.match(text, at):
        group = beside.lastindex or 0
        return [(*beside.span(group), "password")] if is_invented(beside[group], strict=True) else []
    begins, goes_on = at - len(name_before(text, at)), PATTERNS.name_goes_on.match(text, at)
    name = text[begins : goes_on.end() if goes_on else at].rstrip("-._")
    end = begins + len(name)
    if end <= at:
        return []
    is_named = not PATTERNS.no_name_before.search(text, max(0, begins - 80), begins)
    sorts = _sorts_of(text, begins, name) if is_named else ()
    for sort in sorts:
        is_before = sort in {"password", "key"}
        if span := value_after(text, begins, end, sort) or (stated_before(text, begins, sort) if is_before else None):
            return [(*span, "pin" if sort == "pin" else kind_of_name(name))]
    if sorts and (parts := PATTERNS.made_of_variables.match(text, end)):
        return [(*span, kind_of_name(name)) for span in _variable_values(text, begins, parts[1])]
    return [(*span, kind_of_name(name)) for span in secret_arguments(text, end, name)]


def _sorts_of(text: str, begins: int, name: str) -> tuple[Sort, ...]:
    """Return what the value may look like: a password, a key, a number, or a user and a password."""
    end, small = begins + len(name), name.lower().lstrip("-")
    if small.endswith(_NUMBER_NAMES) and PATTERNS.pin_name.search(text, max(0, begins - 24), end):
        return ("pin", "password") if small == "passcode" else ("pin",)
    if small in _PAIR_NAMES or small.endswith("userpwd"):
        return ("pair", "key")
    strength = strength_of(PATTERNS.text_file.sub("", name))
    is_verb = small == "pass" and not _is_named(text, begins, end)
    if (strength == "password" or small in {"pass", "pw", "seed", "mnemonic"}) and not is_verb:
        return ("password",)
    is_key = small.endswith(("key", "keys", "key-string", "community"))
    if is_key and PATTERNS.password_name.search(text, max(0, begins - 24), end):
        return ("password",)
    is_vague = strength == "weak" and small.rstrip("0123456789").endswith(("key", "keys", "pass"))
    if (strength and not is_vague) or (is_key and PATTERNS.key_name.search(text, max(0, begins - 24), end)):
        return ("key",)
    return ("stated",) if strength else ()


def _variable_values(text: str, at: int, names: str) -> list[tuple[int, int]]:
    """Return the values that these variables of a shell were given before, when a secret is put together from them."""
    given = PATTERNS.given_variable.finditer(text, max(0, at - _BEFORE), at)
    return [each.span(2) for each in given if each[1] in re.findall(r"\w+", names)]


def _is_named(text: str, begins: int, end: int) -> bool:
    """Whether `pass` is a name: a sign follows, or a user or what it opens precedes."""
    before = PATTERNS.user_named.search(text, max(0, begins - 60), begins)
    return bool(before or PATTERNS.by_sign.match(text, end))
