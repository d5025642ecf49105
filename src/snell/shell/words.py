"""
Read one word of a command line: quotes, escapes and every kind of expansion.

Commands inside expansions are read on the way, in place, so that their offsets are those of the line. A quote that is
not closed ends where the text ends.
"""

import re
from collections.abc import Callable

from snell.shell.ansi_quotes import decode_ansi_quotes
from snell.shell.cursor import Cursor
from snell.shell.tree import Arithmetic, Node, Part, Substitution, Text, Variable, Word
from snell.system.lazy_regex import lazy_regex

COMMAND, PATTERN, REGEX = "command", "pattern", "regex"

_ENDS_WORD = frozenset(" \t\n;&|)")
_GROUP_MARKS = frozenset("?*+@!")
_GROUP_TEXT = frozenset("() \t\n\r|&;<>")
_PLAIN = lazy_regex("[^ \t\n\r\0\\\\'\"$`|&;<>()]+")
_PLAIN_QUOTED = lazy_regex('[^\\\\"$`]+')
_PLAIN_BRACED = lazy_regex("[^\\\\'\"$`}<>]+")
_PLAIN_SUBSCRIPT = lazy_regex("[^\\\\'\"$`\\]<>]+")
_PLAIN_HEREDOC = lazy_regex("[^\\\\$`]+")
_PLAIN_ARITHMETIC = lazy_regex("[^\\\\'\"$`()\\[\\]]+")
_SINGLE_QUOTED = lazy_regex("'([^']*)'")
_ANSI_QUOTED = lazy_regex(r"\$'((?:[^'\\]|\\.)*)'", re.DOTALL)
LONGEST_EXPRESSION = 4_096  # in characters: what looks like arithmetic and is longer is read as commands
_BACKTICKS = lazy_regex(r"`((?:[^`\\]|\\.)*)`", re.DOTALL)
_ESCAPED_IN_BACKTICKS = lazy_regex(r"\\([$`\\\n])")
_ESCAPED_IN_BOTH = lazy_regex(r"\\([$`\\\"\n])")
_NAMED = lazy_regex(r"\$([A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-])")
_BRACED_NAME = lazy_regex(r"\$\{([#!]?)([A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*#?$!-])")
_BRACED_OPERATOR = lazy_regex(r":[-=?+]|[-=?+]|##?|%%?|//?[#%]?|\^\^?|,,?|@|:")
_TEMPLATE = lazy_regex(r"\{(?:(?!\}\})[^\n])*\}\}")  # of a build service, filled in before any shell sees it
_QUIET_QUOTES = lazy_regex("'([^'}\"$`\\\\]*)'")
_PARENTHESES = lazy_regex("[()]")
_QUOTES = lazy_regex("['\"]")
_MISLEADING = lazy_regex(r"[\\`#]|<<")
_OPERATORS = lazy_regex(r"[;&|<>\n]")


def read_word(cursor: Cursor, mode: str = COMMAND) -> Word:
    """Read the word that starts here; returns one without parts where none does."""
    text, start, end = cursor.text, cursor.at, cursor.end
    parts = list[Part]()
    while True:
        plain = _PLAIN.match(text, cursor.at, end)
        if plain:
            cursor.at = plain.end()
            parts.append(Text(plain[0]))
        if cursor.at >= end or not _read_piece(cursor, parts, text[cursor.at], mode):
            return Word(tuple(parts), start, cursor.at)


def read_text(cursor: Cursor, end: int) -> Word:
    """Read the text up to `end`, in which expansions happen but quotes mean nothing, as in a here-document."""
    start, outer_end, cursor.end = cursor.at, cursor.end, end
    parts = _read_until(cursor, "", _PLAIN_HEREDOC, quoted=True, escapes="$`\\")
    cursor.end = outer_end
    return Word(tuple(parts), start, end)


def read_arithmetic(cursor: Cursor, closing: str) -> tuple[Part, ...] | None:
    """
    Step over an arithmetic expression and its closing mark; the expansions in it.

    None where this is no expression: `((a); b)` are commands, and the cursor is where it was.
    """
    start, troubles = cursor.at, len(cursor.budget.troubles)
    inside = list[Part]()
    cursor.go_deeper()
    is_closed = _skip_expression(cursor, closing, inside)
    cursor.budget.depth -= 1
    if not is_closed:
        cursor.doubt()
        if not cursor.budget.is_spent:
            cursor.at = start
            del cursor.budget.troubles[troubles:]
        return None
    if _reads_otherwise(cursor.text[start : cursor.at - len(closing)], closing):
        cursor.doubt()
    return tuple(inside)


def _skip_expression(cursor: Cursor, closing: str, inside: list[Part]) -> bool:
    opener, closer = ("[", "]") if closing == "]" else ("(", ")")
    open_marks, limit = 0, cursor.at + LONGEST_EXPRESSION
    while not cursor.ended and cursor.at < limit:
        if not open_marks and cursor.sees(closing):
            cursor.at += len(closing)
            return True
        if cursor.take(_PLAIN_ARITHMETIC):
            continue
        char = cursor.peek()
        if char in "$`":
            _read_expansion(cursor, inside, quoted=True)
            continue
        if char in "'\"" or (char == "\\" and cursor.peek(1) != "\n"):
            cursor.doubt()
        open_marks += (char == opener) - (char == closer)
        if open_marks < 0:
            return False
        cursor.at = min(cursor.at + (2 if char == "\\" else 1), cursor.end)
    return False


def _reads_otherwise(source: str, closing: str) -> bool:
    """Tell whether some shells would read the text between the marks as commands."""
    # Bash looks for the end by counting; where that is not where we found it, it would read commands instead.
    if not _is_balanced(source) or (_QUOTES.search(source) and _MISLEADING.search(source)):
        return True
    # Plain POSIX shells know no `$[ ]` and act on the operators inside.
    return closing == "]" and _OPERATORS.search(source) is not None


def _is_balanced(text: str) -> bool:
    open_marks = 0
    for mark in _PARENTHESES.findall(text):
        open_marks += 1 if mark == "(" else -1
        if open_marks < 0:
            return False
    return not open_marks


def _read_piece(cursor: Cursor, parts: list[Part], char: str, mode: str) -> bool:
    """Read one piece of a word that is more than plain text; False where the word ends."""
    if char in _PIECES:
        _PIECES[char](cursor, parts)
    elif char in _ENDS_WORD and mode != REGEX:
        return False
    elif char in ("<", ">") and cursor.peek(1) == "(":
        _read_process_substitution(cursor, parts)
    elif char == "(" and _opens_group(cursor, parts, mode):
        return _read_group(cursor, parts)
    elif char == "|" and mode == REGEX:
        parts.append(Text(char))
        cursor.at += 1
    else:
        return False
    return True


def _opens_group(cursor: Cursor, parts: list[Part], mode: str) -> bool:
    """Return whether `(` opens a group: in a regular expression, or in a pattern right after one of `?*+@!`."""
    if cursor.has_open_group or mode == REGEX:
        return not cursor.has_open_group
    last = parts[-1] if parts else None
    if not isinstance(last, Text) or last.quoted or last.text[-1:] not in _GROUP_MARKS:
        return False
    if mode == COMMAND:
        cursor.doubt()  # bash reads it like that after `shopt -s extglob` only
    return True


def _read_group(cursor: Cursor, parts: list[Part]) -> bool:
    start, before, open_groups = cursor.at, len(parts), 0
    while not cursor.ended:
        char = cursor.peek()
        if char in _GROUP_TEXT and not (char in "<>" and cursor.peek(1) == "("):
            open_groups += (char == "(") - (char == ")")
            parts.append(Text(char))
            cursor.at += 1
        elif plain := cursor.take(_PLAIN):
            parts.append(Text(plain[0]))
        else:
            _read_piece(cursor, parts, char, COMMAND)
        if not open_groups:
            return True
    cursor.doubt()
    cursor.has_open_group = True
    cursor.at = start
    del parts[before:]
    return False


def _read_single_quoted(cursor: Cursor, parts: list[Part]) -> None:
    quoted = cursor.take(_SINGLE_QUOTED)
    if quoted:
        parts.append(Text(quoted[1], quoted=True))
        return
    cursor.budget.trouble("a single quote is never closed")
    parts.append(Text(cursor.take_rest()[1:], quoted=True))


def _read_double_quoted(cursor: Cursor, parts: list[Part]) -> None:
    cursor.at += 1
    inside = _read_until(cursor, '"', _PLAIN_QUOTED, quoted=True, escapes='$`"\\')
    parts.extend(inside or [Text("", quoted=True)])


def _read_until(cursor: Cursor, closing: str, plain: re.Pattern[str], *, quoted: bool, escapes: str = "") -> list[Part]:
    """Read the parts up to the closing mark, and step over it; without such a mark, up to the end."""
    text, end = cursor.text, cursor.end
    parts = list[Part]()
    while cursor.at < end:
        run = plain.match(text, cursor.at, end)
        if run:
            parts.append(Text(run[0], quoted))
            cursor.at = run.end()
        char = text[cursor.at] if cursor.at < end else ""
        if not char:
            break
        if char == closing:
            cursor.at += 1
            return parts
        if char == "\\":
            _read_escape(cursor, parts, escapes)
        elif char in "$`":
            _read_expansion(cursor, parts, quoted=quoted)
        else:
            _read_inside_braces(cursor, parts, char, quoted=quoted)
    if closing:
        what = "double quote" if closing == '"' else "`${`"
        cursor.budget.trouble(f"a {what} is never closed")
    return parts


def _read_inside_braces(cursor: Cursor, parts: list[Part], char: str, *, quoted: bool) -> None:
    """Read a quote or an angle bracket inside `${ }`."""
    if char == '"':
        _read_double_quoted(cursor, parts)
    elif char == "'" and not quoted:
        _read_single_quoted(cursor, parts)
    elif char in "<>" and not quoted and cursor.peek(1) == "(":
        _read_process_substitution(cursor, parts)
    else:
        # Between double quotes an apostrophe quotes in patterns only; there is no doubt where that is the same.
        quiet = cursor.take(_QUIET_QUOTES) if char == "'" else None
        if char == "'" and not quiet:
            cursor.doubt()
        parts.append(Text(quiet[1] if quiet else char, quoted=True))
        cursor.at += not quiet


def _read_escape(cursor: Cursor, parts: list[Part], special: str = "") -> None:
    """Read a backslash: it removes a line break, and protects any other character that is special here."""
    escaped = cursor.peek(1)
    cursor.at = min(cursor.at + 2, cursor.end)
    if escaped == "\n":
        return
    if escaped in ("", "\r"):
        cursor.doubt()
    kept = escaped if not special or escaped in special else "\\" + escaped
    if kept:
        parts.append(Text(kept, quoted=True))


def _skip_nul(cursor: Cursor, _parts: list[Part]) -> None:
    """Leave the character out, as shells do."""
    cursor.at += 1


def _read_expansion(cursor: Cursor, parts: list[Part], quoted: bool = False) -> None:
    """Read what starts with `$` or a backtick."""
    named = _NAMED.match(cursor.text, cursor.at, cursor.end)
    if named:
        start, cursor.at = cursor.at, named.end()
        parts.append(Variable(named[1], "", None, quoted, start, cursor.at))
        return
    following = "`" if cursor.peek() == "`" else cursor.peek(1)
    if following in _EXPANSIONS:
        parts.append(_EXPANSIONS[following](cursor, quoted))
    elif following == "'" and not quoted:
        _read_ansi_quoted(cursor, parts)
    elif following == '"' and not quoted:
        cursor.at += 1
        _read_double_quoted(cursor, parts)
    else:
        if cursor.sees("$\\\n"):
            cursor.budget.trouble("a line break splits an expansion")
        parts.append(Text("$", quoted))
        cursor.at += 1


def _read_ansi_quoted(cursor: Cursor, parts: list[Part]) -> None:
    quoted = cursor.take(_ANSI_QUOTED)
    if not quoted:
        cursor.budget.trouble("a `$'` quote is never closed")
        parts.append(Text(cursor.take_rest()[2:], quoted=True))
        return
    text = decode_ansi_quotes(quoted[1])
    if text is None:
        cursor.doubt()
    parts.append(Text(quoted[1] if text is None else text, quoted=True))


def _read_process_substitution(cursor: Cursor, parts: list[Part]) -> None:
    start, process = cursor.at, cursor.peek()
    cursor.at += 2
    parts.append(Substitution(_read_inside(cursor, ")"), False, process, start, cursor.at))


def _read_inside(cursor: Cursor, closing: str) -> Node:
    """Read the commands of a substitution up to its closing mark."""
    start, waiting, cursor.heredocs = cursor.at, cursor.heredocs, []
    cursor.go_deeper()
    node = cursor.read_body(cursor, closing)
    cursor.budget.depth -= 1
    if cursor.heredocs or (waiting and "\n" in cursor.text[start : cursor.at]):
        cursor.doubt()  # shells disagree on where such a here-document starts
    cursor.heredocs = waiting + cursor.heredocs
    return node


def _read_parenthesis(cursor: Cursor, quoted: bool) -> Part:
    start = cursor.at
    if cursor.sees("$(("):
        cursor.at += 3
        inside = read_arithmetic(cursor, "))")
        if inside is not None:
            return Arithmetic(inside, quoted, start, cursor.at)
    cursor.at = min(start + 2, cursor.end)
    return Substitution(_read_inside(cursor, ")"), quoted, "", start, cursor.at)


def _read_bracket(cursor: Cursor, quoted: bool) -> Part:
    start = cursor.at
    cursor.at += 2
    inside = read_arithmetic(cursor, "]")
    if inside is None:
        cursor.budget.trouble("an arithmetic expression is never closed")
        cursor.at = cursor.end
    return Arithmetic(inside or (), quoted, start, cursor.at)


def _read_backticks(cursor: Cursor, quoted: bool) -> Part:
    start, outer_end = cursor.at, cursor.end
    closed = cursor.take(_BACKTICKS)
    code = closed[1] if closed else cursor.take_rest()[1:]
    close = cursor.at
    if not closed:
        cursor.budget.trouble("a backtick is never closed")
    if quoted and '\\"' in code:
        cursor.doubt()  # what it means depends on the shell and on what else is around it
    if "\\" in code:
        escapes = _ESCAPED_IN_BOTH if quoted else _ESCAPED_IN_BACKTICKS
        code = escapes.sub(lambda escape: escape[1].strip("\n"), code)
        body = _read_inside(Cursor(code, cursor.budget, cursor.read_body), "")
        return Substitution(body, quoted, "", start, close, code)
    cursor.at, cursor.end = start + 1, start + 1 + len(code)
    body = _read_inside(cursor, "")
    cursor.at, cursor.end = close, outer_end
    return Substitution(body, quoted, "", start, close)


def _read_parameter(cursor: Cursor, quoted: bool) -> Part:
    """Read `${...}` up to the first closing brace that is not quoted."""
    start = cursor.at
    head = cursor.take(_BRACED_NAME)
    cursor.go_deeper()
    part = _read_named_parameter(cursor, head, start, quoted) if head else _read_odd_braces(cursor, quoted)
    cursor.budget.depth -= 1
    return part


def _read_named_parameter(cursor: Cursor, head: re.Match[str], start: int, quoted: bool) -> Part:
    name, subscript = head[2], list[Part]()
    if cursor.peek() == "[" and cursor.text.find("]", cursor.at, cursor.end) > 0:
        bracket = cursor.at
        cursor.at += 1
        inside = _read_until(cursor, "]", _PLAIN_SUBSCRIPT, quoted=quoted)
        name += cursor.text[bracket : cursor.at]
        subscript = [part for part in inside if not isinstance(part, Text)]
    operator = cursor.take(_BRACED_OPERATOR)
    argument = Word(tuple(_read_until(cursor, "}", _PLAIN_BRACED, quoted=quoted)))
    what = {"#": "length", "!": "indirect"}.get(head[1]) or (operator[0] if operator else "")
    return Variable(name, what, argument, quoted, start, cursor.at, tuple(subscript))


def _read_odd_braces(cursor: Cursor, quoted: bool) -> Part:
    """Read `${ commands; }`, which newer shells run, and forms that no shell reads."""
    start = cursor.at
    cursor.at += 2
    if cursor.take(_TEMPLATE):
        return Variable("?template", "", None, quoted, start, cursor.at)
    if cursor.peek() in (" ", "\t", "\n", "|"):
        cursor.doubt()
        cursor.at += cursor.peek() == "|"
        return Substitution(_read_inside(cursor, "}"), quoted, "", start, cursor.at)
    argument = Word(tuple(_read_until(cursor, "}", _PLAIN_BRACED, quoted=quoted)))
    cursor.budget.trouble("a `${ }` that no shell would read")
    return Variable("?", "", argument, quoted, start, cursor.at)


_PIECES: dict[str, Callable[[Cursor, list[Part]], None]] = {
    "'": _read_single_quoted,
    '"': _read_double_quoted,
    "\\": _read_escape,
    "$": _read_expansion,
    "`": _read_expansion,
    "\0": _skip_nul,
}
_EXPANSIONS: dict[str, Callable[[Cursor, bool], Part]] = {
    "`": _read_backticks,
    "(": _read_parenthesis,
    "[": _read_bracket,
    "{": _read_parameter,
}
