"""Match secrets by the text around them: a name, a header, a flag, the position in an address."""

import re
from collections.abc import Callable
from functools import cached_property
from string import ascii_lowercase, digits
from typing import Any

from snell.redact import config_values
from snell.redact.columns import inserted_values, values_below
from snell.redact.format_rules import Span, known_format
from snell.redact.named_values import LONGEST, name_at, name_before, value_at, value_before
from snell.redact.pattern_file import PATTERNS
from snell.redact.secret_names import strength_of
from snell.redact.value_shape import is_blank, is_random, is_wordy

Match = Callable[[str, int], Span | None]
_LONGEST_KEY, _SHORTEST_KEY = 65_536, 16  # characters of a private key


def in_context(text: str, at: int) -> Span | None:
    """Return the secret of the context that begins at this position."""
    start = text[at : at + 20].lower()
    for word, match in _BY_START.get(start[:2], ()):
        if start.startswith(word) and (span := match(text, at)):
            return span
    return None


def _assignment(text: str, at: int) -> Span | None:
    """Match `NAME_TOKEN=x`, `"password": "x"`, `<secret>x</secret>`: the value, if the name is that of a secret."""
    sign = PATTERNS.assignment.match(text, at)
    if not sign or sign[4] or sign[5] or sign[2] == ">":
        span = config_values.value_of(text, at)
        if span or not sign:
            return span
    before = name_before(text, at)
    name = name_at(text, at).strip("." if before.startswith("--") else "-.")
    strength = strength_of(name)
    begins = at - len(before)
    if not strength or sign[5] or PATTERNS.no_name_before.search(text, max(0, begins - 80), begins):
        return None
    if _is_not_value(text, sign, begins) or (strength == "weak" and text[begins - 1 : begins] == "/"):  # `b/key=x/part`
        return None
    if span := config_values.argument(text, at, sign, name, strength):
        return span
    is_default = sign[2] in ("||", "??") and not (name.rpartition(".")[2].isupper() or "env." in name)
    if sign[4] or is_default or sign[2] in ("->", "|", "<<<"):
        strength = "weak"  # arguments, cells of a table, input of a program, defaults: only what looks like a secret
    is_code = PATTERNS.code_name.search(name) and PATTERNS.beside_credentials.search(text, max(0, begins - 200), begins)
    strength = "password" if is_code else strength
    tight = before.startswith("--") or (sign[2] in {"=", ">"} and not sign[1] and not sign[3])
    is_listed = PATTERNS.setting_before.search(text, max(0, begins - 80), begins)
    is_listed = is_listed or PATTERNS.setting_after.match(text, sign.end())  # `user=a password=x`, `Uid=a;Pwd=x;`
    strength = "password" if is_listed and name.lower() in {"pass", "pw"} else strength
    sure = before.startswith("-") or name.isupper() or bool(tight and is_listed)
    return value_at(text, sign.end(), name, strength, tight=tight, sure=sure)


def _is_not_value(text: str, sign: re.Match[str], begins: int) -> bool:
    """Whether it is no value but the name on the next line (`password:` above `min: 12`), or of psql (`:"name"`)."""
    if sign[2] == "=" and sign[3] and not sign[1]:  # `password= --token x`
        return "\n" not in sign[3] or PATTERNS.next_name.match(text, sign.end()) is not None
    if "\n" in (sign[3] or ""):
        return PATTERNS.next_name.match(text, sign.end()) is not None
    is_sql = sign[2] == ":" and not sign[3] and PATTERNS.sql_before.search(text, max(0, begins - 40), begins)
    return bool(is_sql and PATTERNS.psql_variable.match(text, sign.end()))


def _known_or(text: str, start: int, end: int, kind: str) -> Span:
    """Return a secret by its context; if it begins with a known format, that names the kind."""
    known = known_format(text, start)
    return (start, max(end, known[1]), known[2]) if known else (start, end, kind)


def _authorization(text: str, at: int) -> Span | None:
    found = PATTERNS.authorization.match(text, at)
    if not found:
        return None
    value, start = found[2], found.start(2)
    if is_blank(value) or is_wordy(value.rstrip(".:")) or PATTERNS.web_address.match(value):
        return None
    if not found[1] and (len(value) < 8 or not any(map(str.isdigit, value)) or PATTERNS.call.match(value)):
        return None
    return _known_or(text, start, found.end(), "authorization")


def _address(text: str, at: int) -> Span | None:
    """Match the password between a user and a host, or a token in place of the user."""
    found = PATTERNS.address.match(text, at)
    if not found:
        return None
    group = 2 if found[2] is not None else 3
    value = found[group]
    if is_blank(value) or value == found[1] or (group == 3 and not is_random(value, 16)):
        return None
    return _known_or(text, *found.span(group), "url-password")


def private_key(text: str, at: int) -> Span | None:
    """Match a key from its first line to its last; without a last line, as long as the lines look like a key."""
    first = PATTERNS.key_begins.match(text, at)
    if not first:
        return None
    last = PATTERNS.key_ends.search(text, first.end(), at + _LONGEST_KEY)
    body = PATTERNS.key_body.match(text, first.end(), at + _LONGEST_KEY)
    if last:
        return (at, last.end(), "private-key") if last.start() - first.end() >= _SHORTEST_KEY else None
    end = body.end() if body else first.end()
    return (at, end, "private-key") if end - first.end() >= _SHORTEST_KEY else None


def _end_of_key(text: str, at: int) -> Span | None:
    """Match a key whose first lines were cut off: the lines before its last, as long as they look like a key."""
    last = PATTERNS.key_ends.match(text, at)
    begins = at
    while begins > max(0, at - _LONGEST_KEY):
        line = max(_after(text, "\n", begins - 1), _after(text, "\\n", begins - 2))
        if not PATTERNS.key_line.fullmatch(text[line:begins]):
            break
        begins = line
    return (begins, last.end(), "private-key") if last and at - begins >= _SHORTEST_KEY else None


def _jwk_value(text: str, at: int) -> Span | None:
    """Match the private members of a JSON Web Key, whose names are single letters: `"d": "x"` beside a `"kty"`."""
    found = PATTERNS.jwk_value.match(text, at)
    is_key = found and "kty" in text[max(0, at - LONGEST) : at + LONGEST]
    return (found.start(1), found.end(1), "private-key") if found and is_key else None


def _after(text: str, sign: str, at: int) -> int:
    found = text.rfind(sign, max(0, at - 200), max(0, at))
    return found + len(sign) if found >= 0 else 0


def several_values(text: str, at: int) -> list[Span]:
    """Return the secrets that a candidate has below or after it: of a manifest, or of the columns of a table."""
    if values := config_values.option_values(text, at):
        return values
    word = text[at : at + 4].lower()
    if word == "kind":
        return _kubernetes_secret_values(text, at)
    return inserted_values(text, at) if word in ("inse", "repl") else values_below(text, at)


def _kubernetes_secret_values(text: str, at: int) -> list[Span]:
    """Return every value under `data:` of a manifest of kind Secret, whatever its name."""
    end = text.find("\n---", at)
    spans = []
    stop = min(len(text), at + LONGEST, end if end >= 0 else len(text))
    for block in PATTERNS.kubernetes_data.finditer(text, at, stop):
        values = PATTERNS.plain_data if block[1] else PATTERNS.secret_data
        for line in values.finditer(text, block.end(), min(len(text), block.end() + LONGEST)):
            if text[line.start()] not in " \t":
                break
            if not is_blank(line[1]):
                spans.append((line.start(1), line.end(1), "secret"))
    return spans


class Capture:
    """A context that one pattern decides, such as a header: a row of `capture`, compiled on the first use."""

    def __init__(self, row: dict[str, Any]) -> None:
        self._row, self._kind, self._is_before = row, row.get("kind", "password"), "before" in row
        self.starts = [each for each in row["starts"] if not each.startswith(tuple({*row["starts"]} - {each}))]

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile(PATTERNS.expand(self._row.get("after") or self._row["before"]))

    def match(self, text: str, at: int) -> Span | None:
        """Return the secret of a context that begins, or ends, at this position."""
        if self._is_before:
            return value_before(text, at, self._pattern)
        found = self._pattern.match(text, at)
        if not found or not found.lastindex or is_blank(found[found.lastindex]):
            return None
        return _known_or(text, *found.span(found.lastindex), self._kind)


_ANY = ("pass", "psw", "pw", "secret", "token", "psk", "api", "key", "cred", "auth", "salt", "pepper", "seed", "pin")
_FUNCTIONS: tuple[tuple[Match, tuple[str, ...]], ...] = (
    (_address, ("://",)),
    (private_key, ("-----begin", "putty-user")),
    (_end_of_key, ("-----end",)),
    (_jwk_value, ('"d', '"k', '"p', '"q')),
    (config_values.value_before_name, ("name", "key")),
    (config_values.flag, ("--", "-")),
    (config_values.set_variable, ("set",)),
    (config_values.variable, ("variable",)),
    (config_values.env_line, ("env", "arg")),
    (_authorization, ("authorization",)),
    (config_values.typed_assignment, _ANY),
    (_assignment, (*_ANY, "security", "_pat")),
)
_MATCHES: list[tuple[str, Match]] = [
    *(
        (start, capture.match)
        for capture in map(Capture, PATTERNS.tables["captures"]["rows"])
        for start in capture.starts
    ),
    *((start, function) for function, starts in _FUNCTIONS for start in starts),
]
_BY_START = {word[:2]: tuple(each for each in _MATCHES if each[0][:2] == word[:2]) for word, _ in _MATCHES}
_BY_START |= {f"|{each}": _BY_START["|"] for each in "sc \t"}
_BY_START |= {f'"{each}': (*_BY_START.get(f'"{each}', ()), *_BY_START['"']) for each in f"{ascii_lowercase}{digits}_"}
_BY_START |= {f"-{each}": (*_BY_START.get(f"-{each}", ()), *_BY_START["-"]) for each in ascii_lowercase}
