"""Lists as command lines: the words of one command, several lines, and the keys that a terminal tool presses."""

import re
import shlex
from collections.abc import Sequence

SHELLS = frozenset({"sh", "bash", "zsh", "dash"})
_ENDS_LINE = frozenset(("Enter", "Return", "KPEnter", "C-m", "C-j", "C-c", "C-d", "C-u", "Escape"))
_PRESSED = {"Space": " ", "Tab": "\t", **dict.fromkeys(_ENDS_LINE, "\n")}
_OTHER_KEY = r"(?:[CMS]-){1,3}.|F\d\d?|Up|Down|Left|Right|Home|End|PageUp|PageDown|BSpace|DC|IC|BTab"
_CONTROL = r"\x1b\[[0-9;?]*[A-Za-z~]|[\x00-\x08\x0b-\x1f\x7f]+"
_PLAIN_WORDS = r"[\w@%+=:,./\s'\"-]*"


def line_of_words(words: Sequence[str]) -> str:
    """The line that a list of words runs: what a shell is given, else the words, quoted."""
    return words[2] if _is_shell(words) else shlex.join(words)


def line_of_list(texts: Sequence[str], *, is_plural: bool = False) -> str:
    """A list of words as one line; a list of lines, by its name or because its first text has blanks, as several."""
    return "\n".join(texts) if _has_lines(texts, is_plural=is_plural) else line_of_words(texts)


def list_for_line(old: Sequence[str], line: str, *, is_plural: bool = False) -> list[str]:
    """A list for another line: words where the old list had words, lines where it had lines."""
    if _is_shell(old):
        return [*old[:2], line]
    if not _has_lines(old, is_plural=is_plural):
        return shlex.split(line) if _is_words(line) else ["bash", "-lc", line]
    lines = line.split("\n")
    return lines if len(lines) == len(old) else [line]


def text_of_keys(texts: Sequence[str]) -> str:
    """What a terminal gets from these texts and names of keys; other control characters end a line."""
    has_keys = any(text in _PRESSED or re.fullmatch(_OTHER_KEY, text) for text in texts)
    pressed = (_PRESSED.get(text, "" if re.fullmatch(_OTHER_KEY, text) else text) for text in texts)
    return re.sub(_CONTROL, "\n", ("" if has_keys else "\n").join(pressed))


def _has_lines(texts: Sequence[str], *, is_plural: bool) -> bool:
    return bool(texts) and not _is_shell(texts) and (is_plural or len(texts[0].split()) > 1)


def _is_shell(words: Sequence[str]) -> bool:
    return len(words) == 3 and words[0].rpartition("/")[2] in SHELLS and words[1] in ("-c", "-lc")


def _is_words(line: str) -> bool:
    """Nothing in the line is for a shell to expand or to join."""
    if "\n" in line or not re.fullmatch(_PLAIN_WORDS, line) or "=" in line.split(" ", 1)[0]:
        return False
    try:
        return bool(shlex.split(line))
    except ValueError:
        return False
