"""Match named values in command lines and settings files: flags, `setx`, `ENV`, a name beside its value."""

import re

from snell.redact.command_passwords import PIPED, value_before_matcher
from snell.redact.format_rules import Span
from snell.redact.named_values import LONGEST, is_quoted_secret, name_after, name_before, value_at
from snell.redact.secret_names import Strength, kind_of_name, strength_of
from snell.redact.value_shape import is_blank, is_wordy

_VALUE_OF = re.compile(
    r"""[A-Za-z0-9_.-]{0,80}[\\"']{0,4}(?:(?:,\s{0,24}|\s{1,24})\\?["']?value["'\\]{0,4}\s?[=:]\s{0,3}"""
    r"""|[ \t]{1,3}-value[ \t]{1,3})""",
    re.IGNORECASE,
)
_VALUE_BEFORE = re.compile(
    r"""value\\{0,3}["']\s{0,3}:\s{0,3}\\{0,3}["']([^\n"'\\]{3,4096})\\{0,3}["']\s{0,3},\s{0,40}\\{0,3}["']\Z""",
    re.IGNORECASE,
)
_NAMED = re.compile(r"""(?:name|key)\\{0,3}["']\s{0,3}:\s{0,3}\\{0,3}["']([\w.-]{1,120})""", re.IGNORECASE)
_FLAG = re.compile(r"--[A-Za-z0-9-]{1,70}[ \t]{1,3}")
_SET = re.compile(r"set(x?)[ \t]((?:[/-][\w-]{1,12}[ \t]{1,3}){0,3})([\w.:/-]{1,100})[ \t]{1,3}(?![-(])", re.IGNORECASE)


def value_of(text: str, at: int) -> Span | None:
    """Match `name: DB_PASSWORD` on one line and `value: x` on the next."""
    found = _VALUE_OF.match(text, at)
    name = name_before(text, at) + name_after(text, at)
    strength = strength_of(name) if found else None
    return value_at(text, found.end(), name, strength, tight=True, sure=True) if found and strength else None


def value_before(text: str, at: int) -> Span | None:
    """Match `"value": "x", "name": "DB_PASSWORD"`, the reverse order."""
    named = _NAMED.match(text, at)
    strength = strength_of(named[1]) if named else None
    found = _VALUE_BEFORE.search(text, text.rfind("value", max(0, at - LONGEST), at), at) if strength else None
    if not found or not named or not strength or not is_quoted_secret(found[1], named[1], strength):
        return None
    return found.start(1), found.end(1), kind_of_name(named[1])


def flag(text: str, at: int) -> Span | None:
    """Match `--db-password x`."""
    found = _FLAG.match(text, at)
    name = found[0].strip(" \t-") if found else ""
    strength = strength_of(name)
    if not found or not strength or _PROSE.match(text, found.end()):
        return None
    return value_at(text, found.end(), name, strength, tight=True, sure=True)


# `the --password options`, `--token and`: prose after the name of a flag.
_PROSE = re.compile(
    r"(?:options?|flags?|arguments?|args?|params?|parameters?|values?|switch(?:es)?|settings?|prompts?|fields?|when|where|which"
    r"|that|with|without|from|into|must|should|will|would|cannot|instead|then|than|takes|accepts|reads|means|needs"
    r"|requires|given|used|have|does|before|after|because|unless|until|only|also|together|twice)\b(?![-_.=@!#$%^&*+/])"
)


def set_variable(text: str, at: int) -> Span | None:
    """Match `setx API_SECRET x`, `set -gx API_SECRET x`; any other `set` is weak evidence."""
    found = _SET.match(text, at)
    name = found[3] if found else ""
    strength = strength_of(name)
    if not found or not strength:
        return None
    is_variable = name.isupper() and bool(found[1] or found[2])
    return value_at(text, found.end(), name, strength if is_variable else "weak", tight=True, sure=True)


def env_line(text: str, at: int) -> Span | None:
    """Match `ENV DB_PASSWORD x` in a Dockerfile, `setenv DB_PASSWORD x` in a shell: alone on its line."""
    found = _ENV.match(text, at)
    if not found or not found[1].isupper() or not _LINE_BEGINS.search(text, max(0, at - 12), at):
        return None
    strength = strength_of(found[1])
    return value_at(text, found.end(1) + 1, found[1], strength, tight=True, sure=True) if strength else None


_LINE_BEGINS = re.compile(r"""(?:(?:\A|[\n"'`]|\\n)[ \t>+-]{0,8}|set|onbuild[ \t])\Z""", re.IGNORECASE)
_ENV = re.compile(
    r"""(?:env|arg)[ \t]{1,3}([A-Za-z0-9_]{2,90})[ \t]"""
    r"""(?=[ \t]{0,2}(?:"[^"\n]{3,4096}"|'[^'\n]{3,4096}'|[^\s"'\\]{3,4096})[ \t]{0,8}(?:\r?\n|\\[rn]|["'`]|\Z))""",
    re.IGNORECASE,
)


def dash_flag(text: str, at: int) -> Span | None:
    """Match `-storepass x`, `-Password x`: some programs have one dash before a long name."""
    found = _DASH_FLAG.match(text, at)
    strength = strength_of(found[1]) if found and (at == 0 or text[at - 1] in " \t\"'`\n") else None
    if not found or strength not in {"password", "strong"} or _PROSE.match(text, found.end()):
        return None
    return value_at(text, found.end(), found[1], strength, tight=True, sure=True)


_DASH_FLAG = re.compile(r"-([A-Za-z]{3,30})[ \t]{1,3}(?!-)")


def argument(text: str, at: int, name: str, strength: Strength) -> Span | None:
    """Match `setenv("DB_PASSWORD", "x")`: the argument after the name in a call that sets it."""
    begins = at - len(name_before(text, at))
    if strength == "weak" or not _SETS.search(text, max(0, begins - 60), begins):
        return None
    found = _ARGUMENT.match(text, at)
    if not found or found[1].isalpha() or not is_quoted_secret(found[1], name, strength):
        return None
    return found.start(1), found.end(1), kind_of_name(name)


_SETS = re.compile(
    r"""(?:set_?env\w*|set_?default|set_?property|put_?env|define|get_?env|get_?property|environ\.get|\benv)"""
    r"""\(\s{0,8}\\{0,3}["']\Z""",
    re.IGNORECASE,
)
_ARGUMENT = re.compile(r"""[A-Za-z0-9_.-]{0,80}\\{0,3}["'],\s{0,3}\\{0,3}["'`]([^\s"'`\\]{5,4096})\\{0,3}["'`]""")


def setter_argument(text: str, at: int) -> Span | None:
    """Match `user.setPassword("x")`: the name is that of a function whose argument is the value."""
    found = _GIVEN.match(text, at)
    name = name_before(text, at) + name_after(text, at) if found else ""
    strength = strength_of(name)
    if not found or not _SETTER.match(name.rpartition(".")[2]) or strength not in ("password", "strong"):
        return None
    value = found[1]
    if value.isalpha() or (is_wordy(value) and not value[-1].isdigit()) or not is_quoted_secret(value, name, strength):
        return None
    return found.start(1), found.end(1), kind_of_name(name)


_GIVEN = re.compile(r"""[A-Za-z0-9_]{0,24}\(\s{0,3}\\{0,3}["'`]([^\s"'`\\]{5,4096})\\{0,3}["'`]\s{0,3}\)""")
_SETTER = re.compile(r"(?:set|with|change|update|reset)(?=[A-Z_])")


def typed_assignment(text: str, at: int) -> Span | None:
    """Match `api_secret: &str = "x"`, `const dbPassword string = "x"`: a type is between the name and the value."""
    found = _TYPED.match(text, at)
    name = name_before(text, at) + name_after(text, at) if found else ""
    strength = strength_of(name)
    return value_at(text, found.end(), name, strength, tight=False, sure=False) if found and strength else None


_TYPED = re.compile(
    r"""[A-Za-z0-9_.-]{0,80}(?:\s?:\s{0,3}|[ \t])[&*]?(?:'\w{1,20} )?"""
    r"""[A-Za-z][\w.<>\[\]]{1,30}[ \t]{1,3}=[ \t]{1,3}(?=["'`])"""
)


def variable(text: str, at: int) -> Span | None:
    """Match `variable "db_password" { default = "x" }`."""
    found = _VARIABLE.match(text, at)
    strength = strength_of(found[1]) if found else None
    return value_at(text, found.end(), found[1], strength, tight=False, sure=True) if found and strength else None


_VARIABLE = re.compile(r"""variable[ \t]{1,3}"([\w.-]{1,80})"\s{0,3}\{[^{}]{0,300}?\bdefault\s{0,8}=\s{0,3}""")


def secret_store_value(text: str, at: int) -> Span | None:
    """Match `fly secrets set A=x`, `gh secret set A --body x`, `echo x | wrangler secret put A`, for any name."""
    found = _STORE.match(text, at)
    if found and found.lastindex and not is_blank(found[found.lastindex]):
        start, end = found.span(found.lastindex)
        return start, end, "secret"
    named = _STORED.match(text, at)
    if not named or (named[1] and not strength_of(named[1])):
        return None
    return value_before_matcher(PIPED)(text, at)


_STORE = re.compile(
    r"""secrets?[ \t]{1,3}(?:set|put|add|create)\b(?:[ \t]{1,3}-{1,2}[\w-]{1,20}[= ][^\s=]{1,60}){0,3}[ \t]{1,3}"""
    r"""(?:[A-Za-z_]\w{0,80}=["']?([^\s"'=]{4,4096})"""
    r"""|[^\n;|&]{0,120}?[ \t](?:-b|--body)[ =]["']?([^\s"';|&]{4,4096}))""",
    re.IGNORECASE,
)
_STORED = re.compile(
    r"(?:secrets?[ \t]{1,3}(?:set|put|add|create)|env[ \t]{1,3}add[ \t]{1,3}(\w{2,80}))\b", re.IGNORECASE
)
