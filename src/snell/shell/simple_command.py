"""Read one simple command: assignments, words and redirections in any order."""

from snell.shell.cursor import Cursor, Draft, RedirectDraft, UnreadableError, Word
from snell.shell.words import ASSIGNING, ASSIGNMENT, COMMAND, read_word
from snell.system.lazy_regex import lazy_regex

_REDIRECT = lazy_regex(
    r"([0-9]+(?=[<>])|\{[A-Za-z_][A-Za-z0-9_]*\}(?=[<>]))?(<<<|<<-|<<|<&|<>|<(?!\()|>>|>&|>\||>(?!\()|&>>|&>)"
)
_OPEN_SUBSCRIPT = lazy_regex(r"[A-Za-z_][A-Za-z0-9_]*\[[^\]]*\Z")
_DECLARES = frozenset(("declare", "typeset", "local", "export", "readonly"))
# A keyword here was written in a way that the grammar did not recognise, such as with a line break inside.
_KEYWORDS = frozenset(
    (
        *("if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac", "in"),
        *("function", "select", "coproc", "{", "}", "!", "[[", "]]"),
    )
)


def read_simple(cursor: Cursor, *, negated: bool) -> None:
    draft = cursor.add(Draft(cursor.position, cursor.depth, negated))
    while True:
        before = cursor.position
        cursor.skip_blanks()
        if cursor.peek() == "#":
            cursor.skip_comment()
            break
        if not _read_redirect(cursor, draft) and not _read_part(cursor, draft):
            cursor.position = before
            break
        draft.end = cursor.position
    if draft.end < 0:
        cursor.found.pop()
        raise UnreadableError(f"a command is missing before `{cursor.peek()}`")


def read_redirects(cursor: Cursor) -> None:
    """The redirections of a compound command: a command without words, so that hooks see them."""
    cursor.skip_blanks()
    if _REDIRECT.match(cursor.text, cursor.position, cursor.end):
        draft = cursor.add(Draft(cursor.position, cursor.depth))
        while _read_redirect(cursor, draft):
            draft.end = cursor.position
            cursor.skip_blanks()


def _read_redirect(cursor: Cursor, draft: Draft) -> bool:
    found = cursor.take(_REDIRECT)
    if not found:
        return False
    if cursor.sees("\\\n"):
        cursor.doubt()
    cursor.skip_blanks()
    fd = int(found[1][:9]) if found[1] and found[1].isdigit() else None
    redirect = RedirectDraft(found[2], read_word(cursor), fd)
    draft.redirects.append(redirect)
    if found[2] in ("<<", "<<-"):
        cursor.heredocs.append(redirect)
    return True


def _read_part(cursor: Cursor, draft: Draft) -> bool:
    char = cursor.peek()
    if char in ("", "\n", ";", "&", "|", ")", "(") or (char in ("<", ">") and cursor.peek(1) != "("):
        return False
    if draft.redirects and draft.redirects[-1].operator.startswith("&>"):
        cursor.doubt()  # where `&` ends the command, as in plain POSIX shells, this is the next one
    declares = not draft.words or draft.words[0].text in _DECLARES
    word = read_word(cursor, ASSIGNING if declares else COMMAND)
    if word.text.isdigit() and cursor.peek() in ("<", ">"):
        cursor.doubt()  # a line break or quotes inside: is it a word or the number of a redirection?
    if draft.words:
        draft.words.append(word)
        return True
    assigned = ASSIGNMENT.match(word.bare) if word.may_assign else None
    if assigned:
        draft.assignments.append((assigned[0].rstrip("+="), word.text[assigned.end() :]))
        return True
    _check_command_word(cursor, draft, word)
    draft.words.append(word)
    return True


def _check_command_word(cursor: Cursor, draft: Draft, word: Word) -> None:
    if not word.quoted and word.text in _KEYWORDS and not draft.assignments and not draft.redirects:
        raise UnreadableError(f"`{word.text}` is out of place")
    if _OPEN_SUBSCRIPT.match(word.bare):
        cursor.doubt()
