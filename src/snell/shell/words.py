"""
Read one word of a command line: quotes, escapes and every kind of expansion.

Commands inside expansions are read on the way, in place, so that their offsets are those of the line.
"""

import re

from snell.shell import ansi_quotes
from snell.shell.arithmetic import reads_otherwise
from snell.shell.cursor import Cursor, Parts, Passage, UnreadableError, Word
from snell.shell.heredocs import heredoc_extent
from snell.system.lazy_regex import lazy_regex

COMMAND, ASSIGNING, PATTERN, REGEX = "command", "assigning", "pattern", "regex"

ASSIGNMENT = lazy_regex(r"[A-Za-z_][A-Za-z0-9_]*(?:\[[^\]]*\])?\+?=")

_CLOSING_PAREN = frozenset(")")
_AT_END = frozenset(("",))
_PLAIN = lazy_regex("[^ \t\n\r\0\\\\'\"$`|&;<>()]+")
_PLAIN_QUOTED = lazy_regex('[^\0\\\\"$`]+')
_PLAIN_BRACED = lazy_regex("[^\0\\\\'\"$`}<>]+")
_PLAIN_HEREDOC = lazy_regex("[^\0\\\\$`]+")
_PLAIN_ARITHMETIC = lazy_regex("[^\0\\\\'\"$`()\\[\\]]+")
_SINGLE_QUOTED = lazy_regex("'([^']*)'")
_ANSI_QUOTED = lazy_regex(r"\$'((?:[^'\\]|\\.)*)'", re.DOTALL)
_BACKTICKS = lazy_regex(r"`((?:[^`\\]|\\.)*)`", re.DOTALL)
_ESCAPED_IN_BACKTICKS = lazy_regex(r"\\([$`\\\n])")
_ESCAPED_IN_BOTH = lazy_regex(r"\\([$`\\\"\n])")
_NAMED = lazy_regex(r"\$(?:[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-])")
_QUIET_QUOTES = lazy_regex("'[^'}\"$`\\\\]*'")
_FAST = lazy_regex(r"[A-Za-z0-9_./:@%+,\-]+(?=[ \t\n;|&)]|\Z)")


def read_word(cursor: Cursor, mode: str = COMMAND) -> Word:
    """The word that starts here; an error when none does."""
    start = cursor.position
    fast = cursor.take(_FAST) if mode != REGEX else None
    if fast:
        return Word(fast[0], fast[0], start, cursor.position)
    parts = Parts()
    while cursor.position < cursor.end and _read_piece(cursor, parts, mode):
        pass
    if cursor.position == start:
        raise UnreadableError(f"a word is missing before `{cursor.peek()}`")
    return parts.word(start, cursor.position)


def skip_arithmetic(cursor: Cursor, closing: str) -> None:
    """Step over an arithmetic expression and its closing mark, reading the commands substituted in it."""
    start = cursor.position
    cursor.go_deeper()
    _skip_expression(cursor, closing)
    cursor.depth -= 1
    cursor.position += len(closing)
    if reads_otherwise(cursor.text[start : cursor.position - len(closing)], closing):
        cursor.doubt()


def _skip_expression(cursor: Cursor, closing: str) -> None:
    opener, closer = ("[", "]") if closing == "]" else ("(", ")")
    scrap, open_marks = Parts(), 0
    while open_marks or not cursor.sees(closing):
        if cursor.take(_PLAIN_ARITHMETIC):
            continue
        char = cursor.peek()
        if char in ("$", "`", "\\", "\0"):
            _arithmetic_expansion(cursor, scrap)
            continue
        if char in ("'", '"'):
            cursor.doubt()
        open_marks += (char == opener) - (char == closer)
        if open_marks < 0 or not char:
            raise UnreadableError("arithmetic that is not closed, or a subshell that looks like it")
        cursor.position += 1


def _arithmetic_expansion(cursor: Cursor, scrap: Parts) -> None:
    if cursor.peek() == "\\":
        if cursor.peek(1) != "\n":
            cursor.doubt()
        cursor.position += 2
        return
    _expansion(cursor, scrap, double_quoted=False, in_text=True)


def _read_piece(cursor: Cursor, parts: Parts, mode: str) -> bool:
    """Read one piece of a word; False where the word ends."""
    plain = cursor.take(_PLAIN)
    if plain:
        parts.add(plain[0])
        return True
    char = cursor.peek()
    if char in ("'", '"', "\\", "$", "`", "\r", "\0"):
        _quote_or_expansion(cursor, parts)
    elif char in ("<", ">") and cursor.peek(1) == "(":
        _process_substitution(cursor, parts)
    elif char == "(" and _opens_array(parts, mode):
        _array(cursor, parts)
    elif char == "(" and _opens_group(parts, mode):
        _group(cursor, parts)
    elif char == "|" and mode == REGEX:
        parts.add(char)
        cursor.position += 1
    else:
        return False
    return True


def _quote_or_expansion(cursor: Cursor, parts: Parts) -> None:
    char = cursor.peek()
    if char == "'":
        _single_quoted(cursor, parts)
    elif char == '"':
        _double_quoted(cursor, parts)
    elif char == "\\":
        _escape(cursor, parts)
    elif char == "\r":
        # Shells take it for an ordinary character; a client that mends line endings first would not.
        cursor.doubt()
        parts.add(char)
        cursor.position += 1
    else:
        _expansion(cursor, parts)


def _single_quoted(cursor: Cursor, parts: Parts) -> None:
    quoted = cursor.take(_SINGLE_QUOTED)
    if not quoted:
        raise UnreadableError("a single quote is not closed")
    if "\0" in quoted[1]:
        cursor.doubt()
    parts.add_quoted(quoted[1])


def _double_quoted(cursor: Cursor, parts: Parts) -> None:
    cursor.position += 1
    before = parts.length
    while cursor.peek() != '"':
        plain = cursor.take(_PLAIN_QUOTED)
        if plain:
            parts.add_quoted(plain[0])
        elif cursor.peek() == "\\":
            _escape(cursor, parts, '$`"\\')
        elif cursor.peek():
            _expansion(cursor, parts, double_quoted=True, in_text=True)
        else:
            raise UnreadableError("a double quote is not closed")
    cursor.position += 1
    if parts.length == before:
        parts.add_quoted("")


def _escape(cursor: Cursor, parts: Parts, special: str = "") -> None:
    """A backslash: gone with a line break, else it protects the next character, where that one is special."""
    escaped = cursor.peek(1)
    cursor.position += 2 if escaped else 1
    if escaped == "\n":
        return
    if not escaped:
        cursor.doubt()
    if escaped in ("\0", "\r"):
        cursor.doubt()
    kept = escaped if escaped and (not special or escaped in special) else "\\" + escaped
    parts.add_quoted(kept)


def _expansion(cursor: Cursor, parts: Parts, *, double_quoted: bool = False, in_text: bool = False) -> None:
    """What starts with `$` or a backtick. `in_text`: inside quotes, a here-document or arithmetic."""
    start, following = cursor.position, cursor.peek(1)
    if cursor.peek() == "\0":
        cursor.doubt()
        cursor.position += 1
    elif following == "'" and not in_text and cursor.peek() == "$":
        _ansi_quoted(cursor, parts)
    elif following == '"' and not in_text and cursor.peek() == "$":
        cursor.position += 1
        _double_quoted(cursor, parts)
    elif _expands(cursor, double_quoted=double_quoted, in_text=in_text):
        parts.add_expansion(cursor.text[start : cursor.position], in_text=in_text)
    else:
        _lone_dollar(cursor, parts, quoted=in_text)


def _expands(cursor: Cursor, *, double_quoted: bool, in_text: bool) -> bool:
    """Step over an expansion; False when a `$` stands for itself."""
    following = cursor.peek(1)
    if cursor.peek() == "`":
        _backticks(cursor, double_quoted=double_quoted, in_text=in_text)
    elif following == "(":
        _parenthesis(cursor)
    elif following == "{":
        _parameter(cursor, in_text=in_text)
    elif following == "[":
        cursor.position += 2
        skip_arithmetic(cursor, "]")
    else:
        return cursor.take(_NAMED) is not None
    return True


def _lone_dollar(cursor: Cursor, parts: Parts, *, quoted: bool) -> None:
    if cursor.sees("$\\\n"):
        raise UnreadableError("a line break splits an expansion")
    if quoted:
        parts.add_quoted("$")
    else:
        parts.add("$")
    cursor.position += 1


def _ansi_quoted(cursor: Cursor, parts: Parts) -> None:
    quoted = cursor.take(_ANSI_QUOTED)
    if not quoted:
        raise UnreadableError("a `$'` quote is not closed")
    text = ansi_quotes.decode_ansi_quotes(quoted[1])
    if text is None:
        cursor.doubt()
    parts.add_quoted(quoted[1] if text is None else text)


def _parenthesis(cursor: Cursor) -> None:
    if cursor.peek(2) == "(":
        cursor.position += 3
        skip_arithmetic(cursor, "))")
    else:
        cursor.position += 2
        cursor.findings.substitutes = True
        _commands_inside(cursor, _CLOSING_PAREN)


def _process_substitution(cursor: Cursor, parts: Parts) -> None:
    start = cursor.position
    cursor.position += 2
    _commands_inside(cursor, _CLOSING_PAREN)
    parts.add_expansion(cursor.text[start : cursor.position])


def _commands_inside(cursor: Cursor, closers: frozenset[str]) -> None:
    start, waiting = cursor.position, cursor.heredocs
    cursor.heredocs = []
    cursor.go_deeper()
    cursor.read_commands(cursor, closers)
    cursor.depth -= 1
    if cursor.heredocs or (waiting and "\n" in cursor.text[start : cursor.position]):
        raise UnreadableError("shells disagree on where this here-document starts")
    cursor.heredocs = waiting


def _backticks(cursor: Cursor, *, double_quoted: bool, in_text: bool) -> None:
    start = cursor.position
    quoted = cursor.take(_BACKTICKS)
    if not quoted:
        raise UnreadableError("a backtick is not closed")
    cursor.findings.substitutes = True
    if in_text and '\\"' in quoted[1]:
        cursor.doubt()  # what it means depends on the shell and on what else is around it
    if "\\" in quoted[1]:
        text = _without_escapes(quoted[1], double_quoted=double_quoted)
        cursor.found.append(Passage(text, start, cursor.position, cursor.depth + 1))
        return
    close, outer_end = cursor.position, cursor.end
    cursor.position, cursor.end = start + 1, close - 1
    _commands_inside(cursor, _AT_END)
    cursor.position, cursor.end = close, outer_end


def _without_escapes(text: str, *, double_quoted: bool) -> str:
    pattern = _ESCAPED_IN_BOTH if double_quoted else _ESCAPED_IN_BACKTICKS
    return pattern.sub(lambda escape: escape[1].strip("\n"), text)


def _parameter(cursor: Cursor, *, in_text: bool) -> None:
    """`${...}`: the first closing brace that is not quoted ends it."""
    cursor.position += 2
    if cursor.peek() in (" ", "\t", "\n", "|"):
        raise UnreadableError("a `${ ...; }` substitution")
    if cursor.peek() == "(":
        cursor.doubt()  # in zsh these are flags, and one of them runs what is quoted
    cursor.go_deeper()
    scrap = Parts()
    while cursor.peek() != "}":
        if cursor.take(_PLAIN_BRACED):
            continue
        char = cursor.peek()
        if not char:
            raise UnreadableError("a `${` is not closed")
        if char == "'" and in_text:
            _apostrophe(cursor)
        elif char in ("<", ">") and cursor.peek(1) == "(" and not in_text:
            _process_substitution(cursor, scrap)
        elif char in ("<", ">"):
            cursor.position += 1
        elif char in ("$", "`"):
            _expansion(cursor, scrap, double_quoted=in_text, in_text=in_text)
        else:
            _quote_or_expansion(cursor, scrap)
    cursor.position += 1
    cursor.depth -= 1


def _apostrophe(cursor: Cursor) -> None:
    """Between double quotes it quotes in patterns only; where both readings come to the same, there is no doubt."""
    if not cursor.take(_QUIET_QUOTES):
        cursor.doubt()
        cursor.position += 1


def _opens_array(parts: Parts, mode: str) -> bool:
    return mode == ASSIGNING and parts.may_assign and ASSIGNMENT.fullmatch("".join(parts.bare)) is not None


def _array(cursor: Cursor, parts: Parts) -> None:
    start = cursor.position
    cursor.position += 1
    while True:
        skip_lines(cursor)
        if cursor.peek() == ")":
            break
        read_word(cursor)
    cursor.position += 1
    parts.add_quoted(cursor.text[start : cursor.position])


def _opens_group(parts: Parts, mode: str) -> bool:
    """Parentheses belong to regular expressions, and to patterns right after one of `?*+@!`."""
    if mode == REGEX:
        return True
    return mode == PATTERN and bool(parts.bare) and parts.bare[-1][-1:] in ("?", "*", "+", "@", "!")


def _group(cursor: Cursor, parts: Parts) -> None:
    open_groups = 0
    while True:
        char = cursor.peek()
        if not char:
            raise UnreadableError("a group in a pattern is not closed")
        if char in ("(", ")", " ", "\t", "\n", "|", "&", ";", "<", ">") and not _substitutes(cursor):
            open_groups += {"(": 1, ")": -1}.get(char, 0)
            parts.add(char)
            cursor.position += 1
        else:
            _read_piece(cursor, parts, COMMAND)
        if not open_groups:
            return


def _substitutes(cursor: Cursor) -> bool:
    return cursor.sees("<(") or cursor.sees(">(")


def skip_lines(cursor: Cursor) -> None:
    """Step over blanks, comments and line breaks; here-documents begin after a line break."""
    while True:
        cursor.skip_blanks()
        char = cursor.peek()
        if char == "#":
            cursor.skip_comment()
        elif char == "\n":
            cursor.position += 1
            if cursor.heredocs:
                _read_heredocs(cursor)
        else:
            return


def _read_heredocs(cursor: Cursor) -> None:
    waiting, cursor.heredocs = cursor.heredocs, []
    for redirect in waiting:
        start, expands = cursor.position, not redirect.target.quoted
        extent = heredoc_extent(cursor, redirect.target.text, tabs=redirect.operator == "<<-", joins=expands)
        if expands:
            redirect.body = _heredoc_text(cursor, extent.end)
        else:
            redirect.body = Word(cursor.text[start : extent.end], "", start, extent.end, quoted=True)
        cursor.position = extent.after


def _heredoc_text(cursor: Cursor, end: int) -> Word:
    """The text up to `end`, in which expansions happen but quotes mean nothing."""
    start, outer_end = cursor.position, cursor.end
    cursor.end = end
    parts = Parts()
    while cursor.position < end:
        plain = cursor.take(_PLAIN_HEREDOC)
        if plain:
            parts.add_quoted(plain[0])
        elif cursor.peek() == "\\":
            _escape(cursor, parts, "$`\\")
        else:
            _expansion(cursor, parts, double_quoted=False, in_text=True)
    cursor.end = outer_end
    return parts.word(start, end)
