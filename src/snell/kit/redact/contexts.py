"""Secrets that can be told by what stands around them: a name, a header, a flag, the place in an address."""

import re

from snell.kit.redact import programs
from snell.kit.redact.names import Strength, kind_of_name, strength_of
from snell.kit.redact.programs import Match, captured, standing_before
from snell.kit.redact.rules import Span, known_format
from snell.kit.redact.values import is_blank, is_fingerprint, is_mixed, is_random, is_wordy

_LONGEST = 4_096


def in_context(text: str, at: int) -> Span | None:
    """What the surroundings that begin here say to be secret."""
    start = text[at : at + 20].lower()
    for word, match in _BY_START.get(start[:2], ()):
        if start.startswith(word) and (span := match(text, at)):
            return span
    return None


_NAME_GOES_ON = re.compile(r"[A-Za-z0-9_.-]{0,80}")
_ASSIGNS = re.compile(
    r"""[A-Za-z0-9_.-]{0,80}[\\"'`\]]{0,6}(\s{0,8})(?:(=>|:=|=(?![=~])|:(?!:)|(?<=[\w"'])>(?!=))(\s{0,8})"""
    r"""|(,)\s{0,3}(?=\\{0,3}["'`])|([ \t]{1,3})(?=[^\s=:>,]))"""
)
# `AWS::IAM::AccessKey`, `arn:...:secret:name`, `[redacted:password]`
_NO_NAME = re.compile(r"(?:::|arn:[\w:*-]{1,70}:|\[redacted:)\Z")
_VALUE_OF = re.compile(
    r"""[A-Za-z0-9_.-]{0,80}[\\"']{0,4}(?:,\s{0,24}|\s{1,24})\\?["']?value["'\\]{0,4}\s?[=:]\s{0,3}""", re.IGNORECASE
)
_VALUE_BEFORE = re.compile(
    r"""value\\{0,3}["']\s{0,3}:\s{0,3}\\{0,3}["']([^\n"'\\]{3,4096})\\{0,3}["']\s{0,3},\s{0,40}\\{0,3}["']\Z""",
    re.IGNORECASE,
)
_NAMED = re.compile(r"""(?:name|key)\\{0,3}["']\s{0,3}:\s{0,3}\\{0,3}["']([\w.-]{1,120})""", re.IGNORECASE)
_FLAG = re.compile(r"--[A-Za-z0-9-]{1,70}[ \t]{1,3}")
_SET = re.compile(r"setx?[ \t][\w.:/-]{1,100}[ \t]{1,3}", re.IGNORECASE)
_QUOTE = re.compile(r"""\\{0,3}(?:"{3}|'{3}|["'`])""")
_LINE = re.compile(r"""[^\s"'`\\]{3,256}(?=[ \t]*(?:\n|\\n|\Z))""")
_BARE = re.compile(r"""(?:[^\s"'`,;&|<>(){}\[\]\\]|,(?=[^\s"'`,;&|<>(){}\[\]\\])|\\(?=[^\s"'`\\nrtu])){1,4096}""")
_PATH = re.compile(  # the first part in small letters, because a key in base64 may begin with a slash, too
    r"(?:~|\.{1,2}|/[a-z]{2,12})/[\w./-]+\Z|/[a-z]{2,12}\Z|[\w./-]+\.(?:pem|key|json|ya?ml|toml|txt|py|js|ts|md|crt|env|com|org"
    r"|io)\Z|https?://[^@]*\Z"
)
_CALL = re.compile(r"[A-Za-z_][\w.]*[(\[]|new\s|await\s|[a-z_]+(?:\.[a-z_]+)+\Z", re.IGNORECASE)
# The name of a type, as an annotation has it: `key: PKCS12PrivateKeyTypes`.
_TYPE = re.compile(r"(?:[A-Z]{1,8}\d{0,4}(?:[A-Z][a-z]{2,}\d{0,2})+|(?:[A-Z][a-z]{2,}\d{0,3}){2,})\Z")
_LETTERS = re.compile(r"[A-Za-z_][A-Za-z_.]*\Z")


def _assigned(text: str, at: int) -> Span | None:
    """`NAME_TOKEN=x`, `"password": "x"`, `<secret>x</secret>`: the value, when the name is that of a secret."""
    sign = _ASSIGNS.match(text, at)
    if not sign or sign[4] or sign[5]:
        span = _value_of(text, at)
        if span or not sign:
            return span
    before = _name_before(text, at)
    name = (before + _goes_on(text, at)).strip("-.")
    strength = strength_of(name)
    if not strength or _NO_NAME.search(text, max(0, at - len(before) - 80), at - len(before)):
        return None
    if sign[5]:
        return _beside(text, sign.end(), name, strength)
    if sign[4]:
        strength = "weak"  # arguments one after the other: only what looks like a secret
    tight = before.startswith("--") or (sign[2] in {"=", ">"} and not sign[1] and not sign[3])
    return _value(text, sign.end(), name, strength, tight=tight, sure=before.startswith("--") or name.isupper())


def _beside(text: str, at: int, name: str, strength: Strength) -> Span | None:
    """`(setq api-key "x")`, `WITH PASSWORD 'x'`, `use token x`: nothing but a space between the name and the value."""
    quote = _QUOTE.match(text, at)
    start = quote.end() if quote else at
    bare = None if quote else _BARE.match(text, start)
    end = _closing(text, start, quote.group()) if quote else bare.end() if bare else start
    value = text[start:end].rstrip(".,;:!?") if bare else text[start:end]
    if name.lower() == "pass" or is_blank(value) or is_wordy(value) or _PATH.match(value) or _CALL.match(value):
        return None
    if quote and strength == "password":
        accepted = len(value) >= 6 and not any(map(str.isspace, value)) and not value.isalpha()
    else:
        accepted = is_random(value, 12 if quote else 20) and not is_fingerprint(value) and is_mixed(value)
    return (start, start + len(value), kind_of_name(name)) if accepted else None


def _value_of(text: str, at: int) -> Span | None:
    """`name: DB_PASSWORD` on one line, `value: x` on the next."""
    found = _VALUE_OF.match(text, at)
    name = _name_before(text, at) + _goes_on(text, at)
    strength = strength_of(name) if found else None
    return _value(text, found.end(), name, strength, tight=True, sure=True) if found and strength else None


def _value_before(text: str, at: int) -> Span | None:
    """`"value": "x", "name": "DB_PASSWORD"`: the other way round."""
    named = _NAMED.match(text, at)
    strength = strength_of(named[1]) if named else None
    found = _VALUE_BEFORE.search(text, text.rfind("value", max(0, at - _LONGEST), at), at) if strength else None
    if not found or not named or not strength or not _is_quoted_secret(found[1], named[1], strength):
        return None
    return found.start(1), found.end(1), kind_of_name(named[1])


def _flag(text: str, at: int) -> Span | None:
    found = _FLAG.match(text, at)
    name = found[0].strip(" \t-") if found else ""
    strength = strength_of(name)
    if not found or not strength or _TALK.match(text, found.end()):
        return None
    return _value(text, found.end(), name, strength, tight=True, sure=True)


# `the --password options`, `--token and`: what people write behind the name of a flag.
_TALK = re.compile(
    r"(?:options?|flags?|arguments?|args?|params?|parameters?|values?|switch(?:es)?|settings?|prompts?|fields?|when|where|which"
    r"|that|with|without|from|into|must|should|will|would|cannot|instead|then|than|takes|accepts|reads|means|needs"
    r"|requires|given|used|have|does|before|after|because|unless|until|only|also|together|twice)\b(?![-_.=@!#$%^&*+/])"
)


def _set(text: str, at: int) -> Span | None:
    found = _SET.match(text, at)
    name = found[0].split()[-1] if found else ""
    strength = strength_of(name)
    if not found or not strength:
        return None
    is_variable = name.isupper() and found[0][3] in "xX"  # `setx API_SECRET x`; any other `set` may be about anything
    return _value(text, found.end(), name, strength if is_variable else "weak", tight=True, sure=True)


def _env(text: str, at: int) -> Span | None:
    """`ENV DB_PASSWORD x` in a Dockerfile, `setenv DB_PASSWORD x` in a shell: nothing else stands on the line."""
    found = _ENV.match(text, at)
    if not found or not found[1].isupper() or not _LINE_BEGINS.search(text, max(0, at - 12), at):
        return None
    strength = strength_of(found[1])
    return _value(text, found.end(1) + 1, found[1], strength, tight=True, sure=True) if strength else None


_LINE_BEGINS = re.compile(r"""(?:(?:\A|[\n"'`]|\\n)[ \t>+-]{0,8}|set|onbuild[ \t])\Z""", re.IGNORECASE)
_ENV = re.compile(
    r"""(?:env|arg)[ \t]{1,3}([A-Za-z0-9_]{2,90})[ \t]"""
    r"""(?=[ \t]{0,2}(?:"[^"\n]{3,4096}"|'[^'\n]{3,4096}'|[^\s"'\\]{3,4096})[ \t]{0,8}(?:\r?\n|\\[rn]|["'`]|\Z))""",
    re.IGNORECASE,
)


def _said(text: str, at: int) -> Span | None:
    """`the password is x`: prose, so only what nobody would write by hand."""
    found = _SAID.match(text, at)
    value = found[1].rstrip(".,;:") if found else ""
    if not found or is_blank(value) or is_wordy(value) or _CALL.match(value) or not is_random(value, 8):
        return None
    return found.start(1), found.start(1) + len(value), kind_of_name(found[0].split()[0])


_SAID = re.compile(r"""[a-z]+[ \t](?:is|was)[ \t:]{1,3}\\{0,3}["'`]?([^\s"'`\\]{8,256})""", re.IGNORECASE)


def _with_password(text: str, at: int) -> Span | None:
    """`log in with password x`: prose, so it has to hold more than letters."""
    found = _WITH.match(text, at)
    value = found[1].rstrip(".,;:!?)") if found else ""
    if not found or len(value) < _SHORTEST_SAID or _OF_PASSWORDS.match(value) or is_blank(value) or _CALL.match(value):
        return None
    is_word = all(each.isalpha() or each in "-_/.'" for each in value)
    return None if is_word or _PATH.match(value) else (found.start(1), found.start(1) + len(value), "password")


_SHORTEST_SAID = 5
_WITH = re.compile(
    r"""with[ \t]{1,3}(?:the[ \t])?(?:password|passphrase|passwd|pwd)[ \t]{1,3}\\{0,3}["'`]?"""
    r"""([^\s"'`\\=]{5,256})(?!\S*=)""",
    re.IGNORECASE,
)
_OF_PASSWORDS = re.compile(  # what passwords are treated with
    r"(?:sha|md|bcrypt|argon|pbkdf|scrypt|hash|oauth|base|utf|rfc|step|field|len|min|max|auth|login|version|v\d)[\w.-]*\Z"
    r"|[-+]|\d+(?:-\d+)?\+?\Z(?<!\d{5})",
    re.IGNORECASE,
)


def _name_before(text: str, at: int) -> str:
    """The part of the name that stands before the word that was found."""
    backwards = _NAME_GOES_ON.match(text[max(0, at - 60) : at][::-1])
    return backwards[0][::-1] if backwards else ""


def _goes_on(text: str, at: int) -> str:
    found = _NAME_GOES_ON.match(text, at)
    return found[0] if found else ""


def _value(text: str, at: int, name: str, strength: Strength, *, tight: bool, sure: bool) -> Span | None:
    quote = _QUOTE.match(text, at)
    start = quote.end() if quote else at
    known = known_format(text, start)
    if known:
        return known
    if quote:
        end = _closing(text, start, quote.group())
        accepted = _is_quoted_secret(text[start:end], name, strength)
    else:
        # Nothing but a password is likely to hold any sign at all, and then the line ends with it.
        bare = (strength == "password" and not tight and _LINE.match(text, start)) or _BARE.match(text, start)
        end = bare.end() if bare else start
        is_call = text[end : end + 1] in {"(", "["}
        accepted = not is_call and _is_bare_secret(text[start:end], name, strength, tight=tight, sure=sure)
    return (start, end, kind_of_name(name)) if accepted else None


def _closing(text: str, start: int, quote: str) -> int:
    end = text.find(quote, start, start + _LONGEST)
    line = text.find("\n", start, start + _LONGEST)
    if end < 0 or 0 <= line < end:
        end = line if line >= 0 else end
    return end if end >= 0 else min(len(text), start + _LONGEST)


def _is_quoted_secret(value: str, name: str, strength: Strength) -> bool:
    if is_blank(value) or _PATH.match(value) or value[0].isspace():
        return False
    if strength == "password":
        return len(value) >= 3
    if strength == "weak":
        return _looks_secret(value, name)
    return len(value) >= 6 and not any(map(str.isspace, value)) and not _is_plain(value)


def _is_bare_secret(value: str, name: str, strength: Strength, *, tight: bool, sure: bool) -> bool:
    """Without quotes it may as well be code: `token: str`, `password=password`, `key = other.key`."""
    value = value.rstrip(",;")
    if is_blank(value) or _PATH.match(value) or _CALL.match(value):
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
    return len(value) >= (6 if tight else 10) and not _is_plain(value)


def _is_plain(value: str) -> bool:
    """Words, a small number, a reference: under the name of a key still none."""
    return (value.isdigit() and len(value) <= 10) or is_wordy(value)


def _looks_secret(value: str, name: str) -> bool:
    """A hash under a plain `key` is a hash, also at the end of a name; under `acme_key` it is Acme's key."""
    is_hash = is_fingerprint(value) or is_fingerprint(value.rsplit("-", 1)[-1])
    return is_random(value) and (len(name) > _PLAIN_NAME or not is_hash)


_PLAIN_NAME = 6


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
    if not found[1] and (len(value) < 8 or _CALL.match(value)):
        return None
    known = known_format(text, start)
    return (start, max(known[1], found.end()), known[2]) if known else (start, found.end(), "authorization")


def _bearer(text: str, at: int) -> Span | None:
    found = _BEARER.match(text, at)
    if not found or is_blank(found[1]) or not any(map(str.isdigit, found[1])) or _WEB.match(found[1]):
        return None
    return known_format(text, found.start(1)) or (found.start(1), found.end(1), "bearer-token")


def _address(text: str, at: int) -> Span | None:
    """The password between a user and a host; a token in the place of the user."""
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
    """From the first line to the last; without a last line as long as the lines look like a key."""
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
    """A key whose first lines were cut off: what stands before its last line, as long as it looks like a key."""
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


def of_a_kubernetes_secret(text: str, at: int) -> list[Span]:
    """Every value under `data:` of a manifest of kind Secret, whatever its name."""
    end = text.find("\n---", at)
    block = text.find("data:", at, end if end >= 0 else len(text))
    if block < 0 or block - at > _LONGEST:
        return []
    spans = []
    for line in _SECRET_DATA.finditer(text, block + 5, min(len(text), block + _LONGEST)):
        if text[line.start()] not in " \t":
            break
        spans.append((line.start(1), line.end(1), "secret"))
    return spans


_AWS_PAIR = re.compile(r"""A[KS]IA[A-Z0-9]{16}["']?[,;:|][ \t]{0,3}["']?([A-Za-z0-9+/]{40})(?![A-Za-z0-9+/])""")

_MATCHES: tuple[tuple[str, Match], ...] = (
    ("://", _address),
    ("--from-literal", captured(programs.PROGRAMS, "secret")),
    ("--password-stdin", standing_before(programs.PIPED)),
    ("-asplaintext", standing_before(programs.SECURE_STRING)),
    ("|", standing_before(programs.TO_CHPASSWD)),
    ("-----begin", private_key),
    ("-----end", _end_of_key),
    ("putty-user", private_key),
    *((word, captured(_AWS_PAIR, "aws-secret-key")) for word in ("akia", "asia")),
    ("with", _with_password),
    *((word, _value_before) for word in ("name", "key")),
    ("--", _flag),
    ("set", _set),
    ("env", _env),
    ("arg", _env),
    ("authorization", _authorization),
    ("bearer", _bearer),
    ("cookie", captured(_COOKIE, "cookie")),
    ("sig", captured(programs.PROGRAMS, "signature")),
    *((port, captured(programs.PGPASS, "password")) for port in (":543", ":643")),
    *((word, _assigned) for word in ("pass", "pwd", "secret", "token", "psk", "key", "cred", "auth", "salt", "api")),
    *((word, _said) for word in ("password", "passphrase", "secret", "token", "key")),
    *((word, captured(programs.PROGRAMS, "password")) for word in programs.WORDS),
)
_BY_START = {word[:2]: tuple(each for each in _MATCHES if each[0][:2] == word[:2]) for word, _ in _MATCHES}
_BY_START |= {f"|{each}": _BY_START["|"] for each in "sc \t"}
