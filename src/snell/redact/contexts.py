"""Match secrets by the text around them: a name, a header, a flag, the position in an address."""

import re

from snell.redact import command_passwords
from snell.redact.command_passwords import Match, capture_matcher, value_before_matcher
from snell.redact.config_values import (
    argument,
    dash_flag,
    env_line,
    flag,
    secret_store_value,
    set_variable,
    setter_argument,
    typed_assignment,
    value_before,
    value_of,
    variable,
)
from snell.redact.format_rules import Span, known_format
from snell.redact.named_values import BARE, CALL, LONGEST, PATH, QUOTE, end_of_quote, name_after, name_before, value_at
from snell.redact.secret_names import Strength, kind_of_name, strength_of
from snell.redact.value_shape import is_blank, is_fingerprint, is_mixed, is_random, is_wordy


def in_context(text: str, at: int) -> Span | None:
    """Return the secret of the context that begins at this position."""
    start = text[at : at + 20].lower()
    for word, match in _BY_START.get(start[:2], ()):
        if start.startswith(word) and (span := match(text, at)):
            return span
    return None


_ASSIGNS = re.compile(
    r"""[A-Za-z0-9_.-]{0,80}[\\"'`\]]{0,6}(\s{0,8})(?:(=>|[:?]=|=(?![=~])|:(?!:)|(?<=[\w"'])>(?![=@]))(\s{0,8})"""
    r"""|(,)\s{0,3}(?=\\{0,3}["'`])|([ \t]{1,3})(?=[^\s=:>,]))"""
)
# `AWS::IAM::AccessKey`, `arn:...:secret:name`, `[redacted:password]`
_NO_NAME = re.compile(r"(?:::|arn:[\w:*-]{1,70}:|\[redacted:)\Z")


def _assignment(text: str, at: int) -> Span | None:
    """Match `NAME_TOKEN=x`, `"password": "x"`, `<secret>x</secret>`: the value, if the name is that of a secret."""
    sign = _ASSIGNS.match(text, at)
    if not sign or sign[4] or sign[5]:
        span = value_of(text, at)
        if span or not sign:
            return span
    before = name_before(text, at)
    name = (before + name_after(text, at)).strip("-.")
    strength = strength_of(name)
    if not strength or _NO_NAME.search(text, max(0, at - len(before) - 80), at - len(before)):
        return None
    if _is_not_value(text, sign, at - len(before)):
        return None
    if sign[5]:
        return _value_after_space(text, sign.end(), name, strength)
    if sign[4] and (span := argument(text, at, name, strength)):
        return span
    if sign[4]:
        strength = "weak"  # arguments of a call: only what looks like a secret
    tight = before.startswith("--") or (sign[2] in {"=", ">"} and not sign[1] and not sign[3])
    return value_at(text, sign.end(), name, strength, tight=tight, sure=before.startswith("--") or name.isupper())


def _is_not_value(text: str, sign: re.Match[str], begins: int) -> bool:
    """
    Return whether what follows the name is no value.

    It may be another name on the next line (`password:` above `min_length: 12`), or a psql variable (`:"name"`).
    """
    if "\n" in (sign[3] or ""):
        return _NEXT_NAME.match(text, sign.end()) is not None
    is_sql = sign[2] == ":" and not sign[3] and _IN_SQL.search(text, max(0, begins - 40), begins)
    return bool(is_sql and _VARIABLE.match(text, sign.end()))


_NEXT_NAME = re.compile(r"""["']?[A-Za-z_][\w.-]{0,60}["']?:(?=\s|\Z)""")
_IN_SQL = re.compile(r"\b(?:with|encrypted|by|role|user)\s+\Z", re.IGNORECASE)
_VARIABLE = re.compile(r"""(["'])[A-Za-z_]\w{0,60}\1""")


def _value_after_space(text: str, at: int, name: str, strength: Strength) -> Span | None:
    """Match `(setq api-key "x")`, `WITH PASSWORD 'x'`, `use token x`: only a space between name and value."""
    quote = QUOTE.match(text, at)
    start = quote.end() if quote else at
    bare = None if quote else BARE.match(text, start)
    end = end_of_quote(text, start, quote.group()) if quote else bare.end() if bare else start
    value = text[start:end].rstrip(".,;:!?") if bare else text[start:end]
    if name.lower() == "pass" or is_blank(value) or is_wordy(value) or PATH.match(value) or CALL.match(value):
        return None
    if quote and strength == "password":
        accepted = len(value) >= 6 and not any(map(str.isspace, value)) and not value.isalpha()
    else:
        accepted = is_random(value, 12 if quote else 20) and not is_fingerprint(value) and is_mixed(value)
    return (start, start + len(value), kind_of_name(name)) if accepted else None


def _stated_value(text: str, at: int) -> Span | None:
    """Match `the password is x`: prose, so only a random value."""
    found = _STATED.match(text, at)
    value = found[1].rstrip(".,;:") if found else ""
    if not found or is_blank(value) or is_wordy(value) or CALL.match(value) or not is_random(value, 8):
        return None
    return found.start(1), found.start(1) + len(value), kind_of_name(found[0].split()[0])


_STATED = re.compile(r"""[a-z]+[ \t](?:is|was)[ \t:]{1,3}\\{0,3}["'`]?([^\s"'`\\]{8,256})""", re.IGNORECASE)


def _with_password(text: str, at: int) -> Span | None:
    """Match `log in with password x`: prose, so the value needs more than letters."""
    found = _WITH.match(text, at)
    value = found[1].rstrip(".,;:!?)") if found else ""
    if not found or len(value) < _SHORTEST_STATED or _OF_PASSWORDS.match(value) or is_blank(value) or CALL.match(value):
        return None
    is_word = all(each.isalpha() or each in "-_/.'" for each in value)
    return None if is_word or PATH.match(value) else (found.start(1), found.start(1) + len(value), "password")


_SHORTEST_STATED = 5
_WITH = re.compile(
    r"""with[ \t]{1,3}(?:the[ \t])?(?:password|passphrase|passwd|pwd)[ \t]{1,3}\\{0,3}["'`]?"""
    r"""([^\s"'`\\=]{5,256})(?!\S*=)""",
    re.IGNORECASE,
)
_OF_PASSWORDS = re.compile(  # words that follow `with password` in prose
    r"(?:protect|reset|rotat|polic|prompt|manag|strength|chang|expir|recover|valid|verif|encrypt|generat|check|requir"
    r"|support|input|form|page|screen|dialog|link|column|param|option|entr|group|user|account|rule|stor|vault|history"
    r"|attempt|complex|hint|updat|creat|access|secur|column|grant|sync)[a-z]*\d{0,2}\Z|"
    r"(?:sha|md|bcrypt|argon|pbkdf|scrypt|hash|oauth|base|utf|rfc|step|field|len|min|max|auth|login|version|v\d)[\w.-]*\Z"
    r"|[-+]|\d+(?:-\d+)?\+?\Z(?<!\d{5})",
    re.IGNORECASE,
)


_AUTHORIZATION = re.compile(
    r"""authorization\\{0,3}["']?\s{0,3}[:=,]\s{0,3}\\{0,3}["']?((?:[a-z0-9-]{3,20}\s{1,3})?)([^\s"'\\][^\n"'\\]{2,4000})""",
    re.IGNORECASE,
)
_WEB = re.compile("https?://", re.IGNORECASE)
_BEARER = re.compile(r"bearer[ \t]{1,3}([A-Za-z0-9._~+/=|:-]{12,4096})", re.IGNORECASE)
_COOKIE = re.compile(
    r"""cookie\\{0,3}["']?\s{0,2}:\s{0,2}\\{0,3}["']?([^\s"'\\=]{1,80}=[^\s"'\\=][^\n"'\\]{3,4000})""", re.IGNORECASE
)
_ADDRESS = re.compile(r"""://(?:([^\s:/?#@"'<>]{0,128}):([^\s"'<>/?#]{1,256})|([^\s:/?#@"'<>]{16,256}))@""")


def _authorization(text: str, at: int) -> Span | None:
    found = _AUTHORIZATION.match(text, at)
    if not found:
        return None
    value, start = found[2], found.start(2)
    if is_blank(value) or is_wordy(value) or _WEB.match(value) or not (found[1] or any(map(str.isdigit, value))):
        return None
    if not found[1] and (len(value) < 8 or CALL.match(value)):
        return None
    known = known_format(text, start)
    return (start, max(known[1], found.end()), known[2]) if known else (start, found.end(), "authorization")


def _bearer(text: str, at: int) -> Span | None:
    found = _BEARER.match(text, at)
    if not found or is_blank(found[1]) or not any(map(str.isdigit, found[1])) or _WEB.match(found[1]):
        return None
    return known_format(text, found.start(1)) or (found.start(1), found.end(1), "bearer-token")


def _address(text: str, at: int) -> Span | None:
    """Match the password between a user and a host, or a token in place of the user."""
    found = _ADDRESS.match(text, at)
    if not found:
        return None
    group = 2 if found[2] is not None else 3
    value = found[group]
    if is_blank(value) or value == found[1] or (group == 3 and not is_random(value, 16)):
        return None
    start, end = found.span(group)
    known = known_format(text, start)
    return (start, max(end, known[1]), known[2]) if known else (start, end, "url-password")


def private_key(text: str, at: int) -> Span | None:
    """Match a key from its first line to its last; without a last line, as long as the lines look like a key."""
    first = _KEY_BEGINS.match(text, at)
    if not first:
        return None
    last = _KEY_ENDS.search(text, first.end(), at + _LONGEST_KEY)
    body = _KEY_BODY.match(text, first.end(), at + _LONGEST_KEY)
    if last:
        return (at, last.end(), "private-key") if last.start() - first.end() >= _SHORTEST_KEY else None
    end = body.end() if body else first.end()
    return (at, end, "private-key") if end - first.end() >= _SHORTEST_KEY else None


def _end_of_key(text: str, at: int) -> Span | None:
    """Match a key whose first lines were cut off: the lines before its last, as long as they look like a key."""
    last = _KEY_ENDS.match(text, at)
    begins = at
    while begins > max(0, at - _LONGEST_KEY):
        line = max(_after(text, "\n", begins - 1), _after(text, "\\n", begins - 2))
        if not _KEY_LINE.fullmatch(text[line:begins]):
            break
        begins = line
    return (begins, last.end(), "private-key") if last and at - begins >= _SHORTEST_KEY else None


def _after(text: str, sign: str, at: int) -> int:
    found = text.rfind(sign, max(0, at - 200), max(0, at))
    return found + len(sign) if found >= 0 else 0


_KEY_LINE = re.compile(r"""[ \t>|"'+]{0,20}[A-Za-z0-9+/=]{1,128}(?:\s|\\[nr]|["',+]){0,12}""")
_LONGEST_KEY, _SHORTEST_KEY = 65_536, 16
_KEY_BEGINS = re.compile(
    r"-----BEGIN[A-Z0-9 _-]{0,100}PRIVATE KEY(?: BLOCK)?-----|PuTTY-User-Key-File-\d:", re.IGNORECASE
)
_KEY_ENDS = re.compile(r"-----END [A-Z0-9 ]{0,40}-----|KEY(?: BLOCK)?-----|Private-MAC: ?[0-9a-f]{20,80}")
_KEY_BODY = re.compile(r"""(?:[A-Za-z0-9+/=:,.\s"'-]|\\[nrt]|\\){0,65536}""")
_SECRET_DATA = re.compile(
    r"""^[ \t]*["']?[\w.-]{1,80}["']?:[ \t]{1,4}["']?([A-Za-z0-9+/]{4,4096}={0,2})["']?[ \t,]*$""", re.MULTILINE
)

_PLAIN_DATA = re.compile(
    r"""^[ \t]*["']?[\w.-]{1,80}["']?:[ \t]{1,4}["']?([^\s"'|>][^\n"']{2,4096}?)["']?[ \t,]*$""", re.MULTILINE
)
_DATA = re.compile(r"^[ \t]{0,8}(string)?data:[ \t]*$", re.MULTILINE | re.IGNORECASE)


def kubernetes_secret_values(text: str, at: int) -> list[Span]:
    """Return every value under `data:` of a manifest of kind Secret, whatever its name."""
    end = text.find("\n---", at)
    spans = []
    for block in _DATA.finditer(text, at, min(len(text), at + LONGEST, end if end >= 0 else len(text))):
        values = _PLAIN_DATA if block[1] else _SECRET_DATA
        for line in values.finditer(text, block.end(), min(len(text), block.end() + LONGEST)):
            if text[line.start()] not in " \t":
                break
            if not is_blank(line[1]):
                spans.append((line.start(1), line.end(1), "secret"))
    return spans


_AWS_PAIR = re.compile(r"""A[KS]IA[A-Z0-9]{16}["']?[,;:|][ \t]{0,3}["']?([A-Za-z0-9+/]{40})(?![A-Za-z0-9+/])""")

_INPUT = re.compile(r"""type=\\?["']?password\\?["']?[^<>]{1,160}?\bvalue=\\?["']([^\s"'<>\\]{4,256})""", re.IGNORECASE)
_USER_AND_PASSWORD = re.compile(
    r"""(?:(?:basic)?auth\s?=?\s?\(|networkcredential\(|getconnection\([^()"']{0,80},)\s{0,3}["'][^\s"']{1,64}["'],\s{0,3}["']([^\s"']{4,256})["']""",
    re.IGNORECASE,
)

_MATCHES: tuple[tuple[str, Match], ...] = (
    ("://", _address),
    *((word, value_before_matcher(command_passwords.DSN)) for word in ("@tcp(", "@unix(")),
    ("--from-literal", capture_matcher(command_passwords.PROGRAMS, "secret")),
    ("--password-stdin", value_before_matcher(command_passwords.PIPED)),
    ("-asplaintext", value_before_matcher(command_passwords.SECURE_STRING)),
    ("|", value_before_matcher(command_passwords.TO_CHPASSWD)),
    ("-----begin", private_key),
    ("-----end", _end_of_key),
    ("putty-user", private_key),
    *((word, capture_matcher(_AWS_PAIR, "aws-secret-key")) for word in ("akia", "asia")),
    ("with", _with_password),
    *((word, value_before) for word in ("name", "key")),
    ("--", flag),
    ("-", dash_flag),
    ("set", set_variable),
    ("secret", secret_store_value),
    ("env", secret_store_value),
    ("variable", variable),
    ("type", capture_matcher(_INPUT, "password")),
    ("auth", capture_matcher(_USER_AND_PASSWORD, "password")),
    ("basicauth", capture_matcher(_USER_AND_PASSWORD, "password")),
    *((word, capture_matcher(_USER_AND_PASSWORD, "password")) for word in ("getconnection", "networkcredential")),
    ("env", env_line),
    ("arg", env_line),
    ("authorization", _authorization),
    ("bearer", _bearer),
    ("cookie", capture_matcher(_COOKIE, "cookie")),
    ("sig", capture_matcher(command_passwords.PROGRAMS, "signature")),
    *((port, capture_matcher(command_passwords.PGPASS, "password")) for port in (":543", ":643")),
    *((word, setter_argument) for word in ("pass", "pwd", "secret", "token")),
    *((word, typed_assignment) for word in ("pass", "pwd", "secret", "token", "psk", "key", "api")),
    *((word, _assignment) for word in ("pass", "pwd", "secret", "token", "psk", "key", "cred", "auth", "salt", "api")),
    *((word, _stated_value) for word in ("password", "passphrase", "secret", "token", "key")),
    *((word, capture_matcher(command_passwords.PROGRAMS, "password")) for word in command_passwords.WORDS),
)
_BY_START = {word[:2]: tuple(each for each in _MATCHES if each[0][:2] == word[:2]) for word, _ in _MATCHES}
_BY_START |= {f"|{each}": _BY_START["|"] for each in "sc \t"}
_BY_START |= {f"-{each}": (*_BY_START.get(f"-{each}", ()), *_BY_START["-"]) for each in "abcdefghijklmnopqrstuvwxyz"}
