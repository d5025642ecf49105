"""Turns lists into command lines: the words of one command, several lines, or the keys that a terminal tool presses."""

import re
import shlex
from collections.abc import Sequence
from typing import Any

from msgspec import DecodeError
from msgspec.json import decode

from snell.model.tool_names import name_set

SHELLS = frozenset({"sh", "bash", "zsh", "dash"})
SHELL_LANGUAGES = SHELLS | {"console", "ksh", "shell", "shellscript", "terminal"}
_OTHER_LANGUAGES = name_set(
    "c cpp csharp deno go html java javascript js julia lua node nodejs perl php py python python3 r ruby rust sql"
    " swift ts tsx typescript"
)
_ENDS_LINE = frozenset(("Enter", "Return", "KPEnter", "C-m", "C-j", "C-c", "C-d", "C-u", "Escape"))
_PRESSED = {"Space": " ", "Tab": "\t", **dict.fromkeys(_ENDS_LINE, "\n")}
_OTHER_KEY = r"(?:[CMS]-){1,3}.|F\d\d?|Up|Down|Left|Right|Home|End|PageUp|PageDown|BSpace|DC|IC|BTab"
_CONTROL = r"\x1b\[[0-9;?]*[A-Za-z~]|[\x00-\x08\x0b-\x1f\x7f]+"
_NAMED_END = r"[{<](?:kp_?)?(?:enter|return|cr|lf|newline)[}>]"
_NAMED_KEY = r"\{(?:(?:ctrl|control|alt|shift|cmd|meta)[+-]\w+|\^\w|esc|escape|up|down|left|right|backspace)\}"
_QUOTED = r'"((?:[^"\\]|\\.)*)(?:"|$)|\'((?:[^\'\\]|\\.)*)(?:\'|$)'
_LIKE_LIST = r"\s*[\[{]+['\"]"
_ERASES = frozenset("\x08\x7f")
_PLAIN_WORDS = r"[\w@%+=:,./\s'\"-]*"


def line_of_words(words: Sequence[str]) -> str:
    """Return the line that a list of words runs: what a shell is given, else the words, quoted."""
    return words[2] if _is_shell(words) else shlex.join(words)


def line_of_list(texts: Sequence[str], *, is_plural: bool = False) -> str:
    """Return words as one line; lines, by the list's name or because its first text has blanks, as several."""
    return "\n".join(texts) if _has_lines(texts, is_plural=is_plural) else line_of_words(texts)


def list_for_line(old: Sequence[str], line: str, *, is_plural: bool = False) -> list[str]:
    """Return a list for another line: words where the old list had words, lines where it had lines."""
    if _is_shell(old):
        return [*old[:2], line]
    if not _has_lines(old, is_plural=is_plural):
        return shlex.split(line) if _is_words(line) else ["bash", "-lc", line]
    lines = line.split("\n")
    return lines if len(lines) == len(old) else [line]


def text_of_keys(texts: Sequence[str]) -> str:
    """Return what a terminal gets from these texts and names of keys; other control characters end a line."""
    has_keys = any(text in _PRESSED or re.fullmatch(_OTHER_KEY, text) for text in texts)
    pressed = (_PRESSED.get(text, "" if re.fullmatch(_OTHER_KEY, text) else text) for text in texts)
    return without_control(_with_named_keys(("" if has_keys else "\n").join(pressed)))


def has_named_keys(text: str) -> bool:
    """Return whether the text names keys: `ls{enter}`."""
    return _with_named_keys(text) != text


def _with_named_keys(text: str) -> str:
    if "{" not in text and "<" not in text:
        return text
    return re.sub(f"{_NAMED_END}|{_NAMED_KEY}", "\n", text, flags=re.IGNORECASE)


def without_control(text: str) -> str:
    """Replace control characters by line breaks, as a terminal treats most of them."""
    return re.sub(_CONTROL, "\n", text)


def apply_backspaces(text: str) -> str:
    """Return the text after its backspaces: a terminal removes the character before each."""
    kept = list[str]()
    for char in text if _ERASES & set(text) else ():
        if char not in _ERASES:
            kept.append(char)
        elif kept:
            kept.pop()
    return without_control("".join(kept) or text)


def texts_of_broken_list(text: str) -> list[str]:
    """Return the texts of a list that is no JSON: `['a', 'b']`, or one that was cut."""
    if not re.match(_LIKE_LIST, text):
        return []
    return [double or single for double, single in re.findall(_QUOTED, text) if double or single]


def is_shell_language(value: object) -> bool:
    """Return whether this names a shell: `bash`, `/bin/sh -e`, `shellscript`."""
    return _language(value) in SHELL_LANGUAGES


def is_other_language(value: object) -> bool:
    """Return whether this names a language that is known not to be a shell's."""
    return _language(value) in _OTHER_LANGUAGES


def _language(value: object) -> str:
    words = value.lower().split() if isinstance(value, str) else []
    return words[0].rpartition("/")[2] if words else ""


def value_of_json(text: str) -> Any:
    """Return what a JSON text holds; None for any other text."""
    if not text.lstrip().startswith(("[", "{", '"')):
        return None
    try:
        return decode(text)
    except (DecodeError, RecursionError, UnicodeError):
        return None


def names_shell(text: object) -> bool:
    """Return whether the first line of a script names a shell: `#!/usr/bin/env bash`."""
    return isinstance(text, str) and text.startswith("#!") and starts_shell(text[2:].partition("\n")[0])


def starts_shell(line: str) -> bool:
    """Return whether a word of the line is a shell, which runs what it reads from stdin."""
    return any(word.rpartition("/")[2] in SHELLS for word in line.split(maxsplit=20)[:20])


def _has_lines(texts: Sequence[str], *, is_plural: bool) -> bool:
    return bool(texts) and not _is_shell(texts) and (is_plural or len(texts[0].split(maxsplit=1)) > 1)


def _is_shell(words: Sequence[str]) -> bool:
    return len(words) == 3 and words[0].rpartition("/")[2] in SHELLS and words[1] in ("-c", "-lc")


def _is_words(line: str) -> bool:
    """Return whether the line has nothing for a shell to expand or to join."""
    if "\n" in line or not re.fullmatch(_PLAIN_WORDS, line) or "=" in line.split(" ", 1)[0]:
        return False
    try:
        return bool(shlex.split(line))
    except ValueError:
        return False
