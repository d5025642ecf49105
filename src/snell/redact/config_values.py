"""Match named values in command lines and settings files: flags, `setx`, `ENV`, a name beside its value."""

import re
from functools import cache

from snell.redact.format_rules import Span
from snell.redact.named_values import LONGEST, is_cell_secret, is_quoted_secret, name_at, name_before, value_at
from snell.redact.pattern_file import PATTERNS
from snell.redact.secret_names import Strength, is_secret_name, kind_of_name, strength_of
from snell.redact.value_shape import is_blank, is_invented


def value_of(text: str, at: int) -> Span | None:
    """Match `name: DB_PASSWORD` on one line and `value: x` on the next."""
    found = PATTERNS.value_of.match(text, at)
    return _value_after(text, found, name_at(text, at)) if found else None


def _value_after(
    text: str, found: re.Match[str], name: str, *, tight: bool = True, sure: bool = True, is_weak: bool = False
) -> Span | None:
    """Return the value after a match, if the name is that of a secret."""
    strength = strength_of(name)
    if not strength:
        return None
    return value_at(text, found.end(), name, "weak" if is_weak else strength, tight=tight, sure=sure)


def value_before_name(text: str, at: int) -> Span | None:
    """Match `"value": "x", "name": "DB_PASSWORD"`, the reverse order."""
    named = PATTERNS.name_of_value.match(text, at)
    strength = strength_of(named[1]) if named else None
    begins = text.rfind("value", max(0, at - LONGEST), at)
    found = PATTERNS.value_before.search(text, begins, at) if strength and begins >= 0 else None
    if not found or not named or not strength or not is_quoted_secret(found[1], named[1], strength):
        return None
    return found.start(1), found.end(1), kind_of_name(named[1])


def flag(text: str, at: int) -> Span | None:
    """Match `--db-password x`, and `-storepass x`: some programs have one dash before a long name."""
    found = PATTERNS.flag.match(text, at)
    if not found or PATTERNS.prose_after_flag.match(text, found.end()):
        return None
    return _value_after(text, found, found[1]) if found[1].startswith("--") or is_secret_name(found[1]) else None


def set_variable(text: str, at: int) -> Span | None:
    """Match `setx API_SECRET x`, `set -gx API_SECRET x`, `set $secret "x"`; any other `set` is weak evidence."""
    found = PATTERNS.set_variable.match(text, at)
    is_sure = found and (found[1] or found[2] or found[3][0] == "$")
    return _value_after(text, found, found[3], is_weak=not is_sure) if found else None


def env_line(text: str, at: int) -> Span | None:
    """Match `ENV DB_PASSWORD x` in a Dockerfile, `setenv DB_PASSWORD x` in a shell: alone on its line."""
    found = PATTERNS.env_line.match(text, at)
    if not found or not PATTERNS.line_begins.search(text, max(0, at - 12), at):
        return None
    is_sure = found[1].isupper() or text[at : at + 3].isupper() or text[max(0, at - 3) : at].lower() == "set"
    return _value_after(text, found, found[1], is_weak=not is_sure)


def argument(text: str, at: int, sign: re.Match[str], name: str, strength: Strength) -> Span | None:
    """Match `setenv("DB_PASSWORD", "x")`, the argument after the name in a call that sets it; or the cell of a row."""
    begins = at - len(name_before(text, at))
    if sign[2] == "|" and PATTERNS.row_begins.search(text, max(0, begins - 100), begins):
        cell = PATTERNS.cell.match(text, sign.end())
        accepted = cell and is_cell_secret(cell[1], name, strength)
        return (*cell.span(1), kind_of_name(name)) if cell and accepted else None
    is_vague = strength == "weak" and not name.isupper()
    if not sign[4] or is_vague or not PATTERNS.setting_call.search(text, max(0, begins - 60), begins):
        return None
    found = PATTERNS.argument.match(text, at)
    value = found[2] if found else ""
    words = PATTERNS.plain_word if name.isupper() else PATTERNS.joined_words
    is_word = value.isalpha() and not (strength == "password" and words.match(value))
    if not found or is_word or not is_quoted_secret(value, name, strength):
        return None
    return (*found.span(2), kind_of_name(name))


def typed_assignment(text: str, at: int) -> Span | None:
    """Match `api_secret: &str = "x"`, `<password type="a">x</password>`: something between the name and the value."""
    found = PATTERNS.typed_assignment.match(text, at)
    return _value_after(text, found, name_at(text, at), tight=found[0][-1] == ">", sure=False) if found else None


def variable(text: str, at: int) -> Span | None:
    """Match `variable "db_password" { default = "x" }`."""
    found = PATTERNS.terraform_variable.match(text, at)
    return _value_after(text, found, found[1], tight=False) if found else None


def option_values(text: str, at: int) -> list[Span]:
    """Return the passwords that a program of the table `programs` is given in its options."""
    command = PATTERNS.command.match(text, at)
    options = options_by_program().get(command[1].lower()) if command else None
    found = options.finditer(text, at, command.end()) if command and options else ()
    return [(*each.span(1), "password") for each in found if not is_blank(each[1])]


def short_option(text: str, at: int) -> list[Span]:
    """Return the value of a short option such as `-p` of any program, if it looks made up."""
    found = PATTERNS.short_option.match(text, at)
    if not found or not is_invented(found[4], strict=True):
        return []
    is_sure = found[1] or PATTERNS.user_option.search(text, max(0, at - 200), at)
    return [(*found.span(4), "password")] if is_sure else []


@cache
def options_by_program() -> dict[str, re.Pattern[str]]:
    """Return for each program the pattern of an option whose value is a password, and of the value."""
    table = {}
    for line in PATTERNS.tables["programs"]["options"].strip().splitlines():
        programs, options = (each.split() for each in line.split(":", 1))
        pattern = re.compile(PATTERNS.expand(rf"[\s\"'](?:{'|'.join(options)}){{OPTION}}"))
        table.update(dict.fromkeys(programs, pattern))
    return table
