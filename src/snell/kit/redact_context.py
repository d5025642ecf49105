"""Secrets that can be told by what stands around them: a name, a header, a flag, the place in an address."""

import re
from collections.abc import Callable
from functools import lru_cache

from snell.kit.redact_formats import Span, any_of, known_format

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_PASSWORDS = frozenset({"password", "passwords", "passwd", "passphrase", "passcode", "pwd"})
_SECRETS = frozenset({"secret", "secrets", "token", "tokens", "apikey", "apikeys", "credential", "credentials"})
_HEADERS = frozenset({"cookie", "cookies", "authorization"})
_OF_KEYS = frozenset(
    [
        "access",
        "account",
        "admin",
        "api",
        "app",
        "auth",
        "client",
        "consumer",
        "deploy",
        "encryption",
        "hmac",
        "license",
        "master",
        "private",
        "secret",
        "service",
        "session",
        "shared",
        "signing",
        "ssh",
        "storage",
        "subscription",
        "webhook",
    ]
)
_LONGEST = 4_096


Match = Callable[[str, int], Span | None]


def contexts(lowered: str) -> list[tuple[int, Match]]:
    """Where the surroundings of a secret may begin, and what looks there; for a text in small letters."""
    return [(found.start(), _MATCHES[found[0]]) for found in _BEGINNINGS.finditer(lowered)]


@lru_cache(maxsize=4_096)
def is_secret_name(name: str) -> bool:
    """`GITHUB_TOKEN` and `clientSecret` are, `token_count` and `password_file` are not."""
    words = [word.lower() for word in _WORDS.findall(name[-80:])]
    if not words:
        return False
    before = words[-2] if len(words) > 1 else ""
    if words[-1] in {"key", "keys"}:
        return before in _OF_KEYS or words[0] == "x"  # a header such as `X-Acme-Key`
    if words[-1] == "pass":
        return bool(before)
    return words[-1] in _PASSWORDS or words[-1] in _SECRETS or words[-1] in _HEADERS


def kind_of_name(name: str) -> str:
    word = _WORDS.findall(name[-80:])[-1].lower()
    if word in _PASSWORDS or word == "pass":
        return "password"
    return "api-key" if word.startswith(("apikey", "key")) else word.removesuffix("s")


_NAME_GOES_ON = re.compile(r"[\w-]{0,40}")
_ASSIGNS = re.compile(r"""[\w-]{0,40}(?:\\{0,3}["'`])?\]?(\s{0,3})(=>|:=|=|:)(\s{0,3})""")
_FLAG = re.compile(r"[\w-]{0,40}(?:=|\s{1,3})")
_QUOTE = re.compile(r"""\\{0,3}["'`]""")
_LINE = re.compile(r"""[^\s"'`\\]{3,256}(?=[ \t]*(?:\n|\\n|\Z))""")
_BARE = re.compile(r"""(?:[^\s"'`,;&|<>(){}\[\]\\]|,(?=[^\s"'`,;&|<>(){}\[\]\\])){1,4096}""")
# A variable, a blank to be filled in, or what has been here before.
_REFERENCE = re.compile(
    r"""\$\{?\w+\}?(?:\Z|[\s"'\\])|\$[({]|\{\{|<|%\(|\[redacted:|\*{3}|\.{3}|sk-\.\.\."""
    r"""|x{4}|your[_-]|insert[_-]|replace[_-]|changeme|change[_-]me|example|placeholder""",
    re.IGNORECASE,
)
_PATH = re.compile(  # the first part in small letters, because a key in base64 may begin with a slash, too
    r"(?:~|\.{1,2}|/[a-z]{2,12})/[\w./-]+\Z|[\w./-]+\.(?:pem|key|json|ya?ml|toml|txt|py|js|ts|md)\Z"
)
_NOTHING = re.compile(r"(?:none|null|nil|true|false|undefined)\Z", re.IGNORECASE)
_CALL = re.compile(r"[A-Za-z_][\w.]*[(\[]")
_LETTERS = re.compile(r"[A-Za-z_][A-Za-z_.]*\Z")


def _assigned(text: str, at: int) -> Span | None:
    """`NAME_TOKEN=x`, `"password": "x"`, `--api-key x`: the value, when the name is that of a secret."""
    sign = _ASSIGNS.match(text, at)
    flag = None if sign else _FLAG.match(text, at)
    found = sign or flag
    if not found:
        return None
    before = _name_before(text, at)
    is_flag = before.startswith("-")
    name = (before + _NAME_GOES_ON.match(text, at)[0]).strip("-")  # type: ignore[index]  # it matches nothing too
    if (flag and not is_flag) or not is_secret_name(name):
        return None
    tight = is_flag or (sign is not None and sign[2] == "=" and not sign[1] and not sign[3])
    return _value(text, found.end(), name, tight=tight, sure=is_flag or name.isupper())


def _name_before(text: str, at: int) -> str:
    """The part of the name that stands before the word that was found."""
    backwards = _NAME_GOES_ON.match(text[max(0, at - 40) : at][::-1])
    return backwards[0][::-1] if backwards else ""


def _value(text: str, at: int, name: str, *, tight: bool, sure: bool) -> Span | None:
    quote = _QUOTE.match(text, at)
    kind = kind_of_name(name)
    start = quote.end() if quote else at
    known = known_format(text, start)
    if known:
        return known
    if quote:
        end = _closing(text, start, quote.group())
        accepted = _is_quoted_secret(text[start:end], kind)
    else:
        # Nothing but a password is likely to hold any sign at all, and then the line ends with it.
        bare = (kind == "password" and not tight and _LINE.match(text, start)) or _BARE.match(text, start)
        end = bare.end() if bare else start
        is_call = text[end : end + 1] in {"(", "["}
        accepted = not is_call and _is_bare_secret(text[start:end], name, kind, tight=tight, sure=sure)
    return (start, end, kind) if accepted else None


def _closing(text: str, start: int, quote: str) -> int:
    end = text.find(quote, start, start + _LONGEST)
    if end < 0:
        end = text.find("\n", start, start + _LONGEST)
    return end if end >= 0 else min(len(text), start + _LONGEST)


def _is_quoted_secret(value: str, kind: str) -> bool:
    if _REFERENCE.match(value) or _PATH.match(value):
        return False
    if kind == "password":
        return len(value) >= 3
    return len(value) >= 6 and not any(map(str.isspace, value))


def _is_bare_secret(value: str, name: str, kind: str, *, tight: bool, sure: bool) -> bool:
    """Without quotes it may as well be code: `token: str`, `password=password`, `key = other.key`."""
    if any(pattern.match(value) for pattern in (_REFERENCE, _PATH, _CALL, _NOTHING)):
        return False
    if _LETTERS.match(value):
        says_the_same = name.lower() in value.lower() or value.lower() in name.lower()
        return tight and len(value) >= 4 and (sure or (kind == "password" and not says_the_same))
    if value.isdigit() and kind != "password":
        return len(value) > 10
    return len(value) >= (3 if kind == "password" else 6)


_AUTHORIZATION = re.compile(
    r"""authorization\\{0,3}["']?\s{0,3}[:=]\s{0,3}\\{0,3}["']?([a-z0-9-]{3,20}\s{1,3})?([^\s"'\\][^\n"'\\]{2,4000})""",
    re.IGNORECASE,
)
_BEARER = re.compile(r"bearer\s{1,3}([A-Za-z0-9._~+/=-]{12,4096})", re.IGNORECASE)
_COOKIE = re.compile(
    r"""cookie\\{0,3}["']?\s{0,2}:\s{0,2}\\{0,3}["']?([^\n"'\\=]{1,80}=[^\n"'\\]{4,4000})""", re.IGNORECASE
)
_ADDRESS = re.compile(r"""://[^\s:/?#@"'<>]{0,128}:([^\s"'<>@/]{1,256})@|://([^\s:/?#@"'<>]{16,256})@""")
_PROGRAMS = re.compile(
    r"""mysql\w{0,10}\b[^\n;|&]{0,200}?\s-p([^\s"';|&]{2,128})"""
    r"""|machine\s{1,3}\S{1,256}\s{1,3}login\s{1,3}\S{1,128}\s{1,3}password\s{1,3}(\S{1,256})"""
    r"""|sshpass\s{1,3}-p\s{0,3}["']?([^\s"']{2,128})"""
    r"""|redis-cli\b[^\n;|&]{0,100}?\s(?:-a|--pass)\s{1,3}["']?([^\s"']{2,128})"""
    r"""|curl\b[^\n;|&]{0,400}?\s(?:-u|--user|--proxy-user)[\s=]{0,3}["']?[^\s:"'<]{1,64}:([^\s"']{1,128})"""
)
_SIGNATURE = re.compile(r"""sig(?:nature)?=([A-Za-z0-9%+/_-]{16,512})""", re.IGNORECASE)


def _authorization(text: str, at: int) -> Span | None:
    found = _AUTHORIZATION.match(text, at)
    if not found or _REFERENCE.match(found[2]) or not (found[1] or any(map(str.isdigit, found[2]))):
        return None
    return found.start(2), found.end(2), "authorization"


def _bearer(text: str, at: int) -> Span | None:
    found = _BEARER.match(text, at)
    if not found or not any(map(str.isdigit, found[1])):
        return None
    return known_format(text, found.start(1)) or (found.start(1), found.end(1), "bearer-token")


def _captured(pattern: re.Pattern[str], kind: str) -> Match:
    def match(text: str, at: int) -> Span | None:
        found = pattern.match(text, at)
        if not found or not found.lastindex or _REFERENCE.match(found[found.lastindex]):
            return None
        start, end = found.span(found.lastindex)
        known = known_format(text, start)
        return (start, max(end, known[1]), known[2]) if known else (start, end, kind)

    return match


_MATCHES: dict[str, Match] = {
    "authorization": _authorization,
    "bearer": _bearer,
    "cookie": _captured(_COOKIE, "cookie"),
    "://": _captured(_ADDRESS, "url-password"),
    **dict.fromkeys(("mysql", "machine ", "sshpass", "redis-cli", "curl"), _captured(_PROGRAMS, "password")),
    **dict.fromkeys(("sig=", "signature="), _captured(_SIGNATURE, "signature")),
    **dict.fromkeys(("pass", "pwd", "secret", "token", "key", "credential"), _assigned),
}
_BEGINNINGS = re.compile(any_of(list(_MATCHES)))
