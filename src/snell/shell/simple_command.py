"""Read one simple command: assignments, words and redirections in any order."""

from snell.shell.cursor import Cursor
from snell.shell.heredocs import read_heredocs
from snell.shell.simple_lines import KEYWORDS
from snell.shell.tree import Assignment, Part, Redirect, Simple, Word
from snell.shell.words import read_text, read_word
from snell.system.lazy_regex import lazy_regex

_ENDS_COMMAND = frozenset("\n;|)(#")
_ENDS_ARRAY = ("", *" \t\n\r;|&<>)")
_MAY_REDIRECT = frozenset("<>&{0123456789")
_REDIRECT = lazy_regex(
    r"([0-9]+(?=[<>])|\{[A-Za-z_][A-Za-z0-9_]*\}(?=[<>]))?(<<<|<<-|<<|<&|<>|<(?!\()|>>|>&|>\||>(?!\()|&>>|&>)"
)
_ASSIGNMENT = lazy_regex(r"([A-Za-z_](?:[A-Za-z0-9_]|\\\n)*)(\[[^\]]*\])?(?:\\\n)*(\+?)(?:\\\n)*=")
_OPEN_SUBSCRIPT = lazy_regex(r"[A-Za-z_][A-Za-z0-9_]*\[[^\]]*\Z")
_CASE_BREAK = lazy_regex(";[;&]")
_DECLARES = frozenset(("declare", "typeset", "local", "export", "readonly"))


def read_simple(cursor: Cursor, *, negated: bool) -> Simple:
    """Read the simple command that starts here; where none does, return an empty one and note doubt."""
    start = end = cursor.at
    words, assignments, redirects = list[Word](), list[Assignment](), list[Redirect]()
    while _read_part(cursor, words, assignments, redirects):
        end = cursor.at
        cursor.skip_blanks()
    if end == start or (redirects and _splits_elsewhere(words, redirects)):
        cursor.doubt()
    return Simple(tuple(words), tuple(assignments), tuple(redirects), start, end, negated)


def _read_part(cursor: Cursor, words: list[Word], assignments: list[Assignment], redirects: list[Redirect]) -> bool:
    """Read one part of a command; False where it ends."""
    if cursor.at >= cursor.end:
        return False
    char = cursor.text[cursor.at]
    if char in _ENDS_COMMAND:
        return False
    redirect = _read_redirect(cursor) if char in _MAY_REDIRECT else None
    if redirect:
        redirects.append(redirect)
        return True
    if not words or words[0].plain in _DECLARES:
        assigned = _read_assignment(cursor, is_argument=bool(words))
        if assigned:
            assignments.append(assigned)
            return True
    word = read_word(cursor)
    if cursor.at == word.start:
        return False
    words.append(word)
    if len(words) == 1 and _is_odd_first(word, alone=not (assignments or redirects)):
        cursor.doubt()
    return True


def _splits_elsewhere(words: list[Word], redirects: list[Redirect]) -> bool:
    """Tell whether some shells read a redirection, or what is before it, as something else."""
    last = words[-1] if words else Word()
    numbers = {word.end for word in words if (word.plain or "").isdigit()}
    # Where `&` ends the command, as in plain POSIX shells, a word after `&>x` begins the next one. A number right
    # before `>` has a line break or quotes inside, else it would belong to the redirection.
    return any(
        (each.operator.startswith("&>") and last.start > each.start) or each.start in numbers for each in redirects
    )


def _is_odd_first(word: Word, *, alone: bool) -> bool:
    """Tell whether shells read a first word in different ways."""
    plain = word.plain or ""
    if alone and plain in KEYWORDS and not word.is_quoted:
        return True  # written in a way that the grammar did not recognise, such as with a line break inside
    return "[" in plain and _OPEN_SUBSCRIPT.match(plain) is not None


def _read_assignment(cursor: Cursor, *, is_argument: bool) -> Assignment | None:
    """Read an assignment before the command; as an argument of `declare` and the like, only that of an array."""
    start = cursor.at
    head = _ASSIGNMENT.match(cursor.text, start, cursor.end)
    if not head:
        return None
    is_array = cursor.text.startswith("(", head.end(), cursor.end)
    if is_argument and not is_array:
        return None
    inside = _read_subscript(cursor, head.start(2), head.end(2)) if head[2] else ()
    name, subscript, adds = head[1].replace("\\\n", ""), head[2] or "", bool(head[3])
    cursor.at = head.end()
    if not is_array:
        return Assignment(name, read_word(cursor), adds, None, subscript, inside, start)
    items = _read_items(cursor)
    return Assignment(name, Word((), head.end(), cursor.at), adds, items, subscript, inside, start)


def _read_subscript(cursor: Cursor, start: int, end: int) -> tuple[Part, ...]:
    source = cursor.text[start:end]
    if " " in source or "\n" in source:
        cursor.doubt()  # plain POSIX shells end the word there
    if "$" not in source and "`" not in source:
        return ()
    cursor.at = start + 1
    return read_text(cursor, end - 1).parts


def _read_items(cursor: Cursor) -> tuple[Word, ...]:
    """Read the words of an array, in parentheses."""
    cursor.at += 1
    items = list[Word]()
    while True:
        skip_lines(cursor)
        if cursor.ended or cursor.peek() == ")":
            break
        word = read_word(cursor)
        if word.parts:
            items.append(word)
        else:
            cursor.doubt()
            cursor.at += cursor.at == word.start
    is_closed = not cursor.ended
    cursor.at += is_closed
    if not is_closed or cursor.peek() not in _ENDS_ARRAY:
        cursor.doubt()
    return tuple(items)


def read_redirects(cursor: Cursor) -> tuple[Redirect, ...]:
    """Read the redirections of a compound command."""
    redirects = list[Redirect]()
    while True:
        cursor.skip_blanks()
        redirect = _read_redirect(cursor) if cursor.peek() in _MAY_REDIRECT else None
        if not redirect:
            return tuple(redirects)
        redirects.append(redirect)


def _read_redirect(cursor: Cursor) -> Redirect | None:
    start = cursor.at
    found = cursor.take(_REDIRECT)
    if not found:
        return None
    if cursor.sees("\\\n"):
        cursor.doubt()
    cursor.skip_blanks()
    target = read_word(cursor)
    if not target.parts:
        cursor.doubt()
    redirect = Redirect(found[2], target, (found[1] or "").strip("{}"), None, start, cursor.at)
    if found[2] in ("<<", "<<-"):
        cursor.heredocs.append(redirect)
    return redirect


def skip_lines(cursor: Cursor, *, semicolons: bool = True) -> None:
    """Step over blanks, comments, line breaks and lone semicolons; here-documents begin after a line break."""
    while True:
        cursor.skip_blanks()
        char = cursor.peek()
        if char == "#":
            cursor.skip_comment()
        elif char == "\n":
            cursor.at += 1
            if cursor.heredocs:
                read_heredocs(cursor)
        elif char == ";" and semicolons and not _CASE_BREAK.match(cursor.text, cursor.at, cursor.end):
            cursor.doubt()
            cursor.at += 1
        else:
            return
