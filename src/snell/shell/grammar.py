"""Read a command line into a tree. No text raises an error: what is out of place is noted and stepped over."""

import re
from collections.abc import Callable
from functools import lru_cache

from snell.shell import tree
from snell.shell.conditions import read_arithmetic_command, read_test
from snell.shell.cursor import LONGEST_TEXT, Budget, Cursor
from snell.shell.simple_command import read_redirects, read_simple, skip_lines
from snell.shell.simple_lines import LONGEST_SHARED, simple_tree
from snell.shell.tree import EMPTY, Node, Text, Word, literal
from snell.shell.words import PATTERN, read_arithmetic, read_word
from snell.system.lazy_regex import lazy_regex

_BODY_KEYWORDS = r"if|for|while|until|case|select|\[\["
_RESERVED = lazy_regex(
    rf"(?:{_BODY_KEYWORDS}|then|elif|else|fi|do|done|esac|in|function|coproc|time|[{{}}!])(?=[ \t\n\r;&|()<>]|\Z)"
)
_RESERVED_STARTS = frozenset("itfwucs[edt{}!")
_CLOSING_WORDS = frozenset(("then", "elif", "else", "fi", "do", "done", "esac", "}"))
_AT_END = frozenset(("",))
_CASE_ENDS = frozenset((";;", ";&", ";;&", "esac"))
_CASE_BREAK = lazy_regex(";;&|;;|;&")
_SEPARATOR = lazy_regex(r"&&|\|\||;(?![;&])|&(?![&>])")
_PIPE = lazy_regex(r"\|&|\|(?!\|)")
_ODD = lazy_regex(r"[|&;)]+|.", re.DOTALL)
_GAP = r"(?:[ \t]|\\\n)+"
_COMPOUND = rf"\(|\{{[ \t\n]|(?:{_BODY_KEYWORDS})[ \t\n]"
# Before a plain command `time` is left to that command: there it may be the keyword or the program.
_TIME_KEYWORD = lazy_regex(
    rf"time(?:{_GAP}-p)?(?:{_GAP}--)?{_GAP}(?={_COMPOUND}|!|coproc[ \t]|[A-Za-z_][A-Za-z0-9_]*\+?=)"
)
_COPROC = lazy_regex(rf"coproc(?:{_GAP}(?:(?!{_COMPOUND})[A-Za-z_][A-Za-z0-9_]*{_GAP}(?={_COMPOUND}))?)?")
_FUNCTION = lazy_regex(r"""([^ \t\n\r|&;<>()$`'"\\=]+)[ \t]*\([ \t]*\)""")
_FUNCTION_KEYWORD = lazy_regex(r"""function[ \t]+([^ \t\n\r|&;<>()$`'"\\]+)(?:[ \t]*\([ \t]*\))?""")
_NAME = lazy_regex(r"[A-Za-z_][A-Za-z0-9_]*(?=[ \t\n\r;]|\Z)")
_ENDLESS = lazy_regex(r"[^;()]*;\s*(?:1|true)?\s*;[^;()]*\)\)")
_ENDS_ITEMS = ("", ";", "\n", "#")


def make_tree(text: str, budget: Budget) -> Node:
    """Return the tree of the text; the budget notes what could not be read."""
    simple = simple_tree(text) if len(text) <= LONGEST_TEXT else None
    if simple and budget.commands + len(simple[1]) <= budget.most_commands:
        budget.commands += len(simple[1])
        return simple[0]
    # What is noted in a budget that is not used yet depends on this text alone.
    if not (budget.commands or budget.doubtful or len(text) > LONGEST_SHARED) and (known := _shared_tree(text)):
        budget.commands += known[1]
        return known[0]
    return _make_tree(text, budget)


@lru_cache(maxsize=256)  # more than the events whose ledger rows may wait
def _shared_tree(text: str) -> tuple[Node, int] | None:
    """Return the tree of a line and its number of commands, for guard and ledger; None if the reading is doubtful."""
    budget = Budget()
    node = _make_tree(text, budget)
    return None if budget.doubtful else (node, budget.commands)


def _make_tree(text: str, budget: Budget) -> Node:
    if len(text) > LONGEST_TEXT:
        budget.trouble(f"it is longer than {LONGEST_TEXT // 1024} KB")
        return EMPTY
    cursor = Cursor(text, budget, _read_body)
    node = _read_everything(cursor)
    if cursor.heredocs:
        cursor.doubt()
    return node


def _read_everything(cursor: Cursor) -> Node:
    nodes = list[Node]()
    while not cursor.ended:
        nodes.append(_read_chain(cursor, _AT_END))
        odd = cursor.take(_ODD) if cursor.at < cursor.end else None
        if odd:
            cursor.budget.trouble(f"`{odd[0]}` is out of place")
    return nodes[0] if len(nodes) == 1 else tree.Chain(tuple(nodes), (";",) * len(nodes))


def _read_body(cursor: Cursor, *closers: str) -> Node:
    """Read commands up to one of the closers, and step over it."""
    if closers == ("",):
        return _read_everything(cursor)
    node = _read_chain(cursor, frozenset(closers))
    _expect(cursor, closers)
    return node


def _expect(cursor: Cursor, closers: tuple[str, ...] | frozenset[str]) -> str:
    cursor.skip_blanks()
    word = _closer(cursor)
    if word in closers:
        cursor.at += len(word)
    else:
        cursor.budget.trouble(f"`{'` or `'.join(sorted(closers))}` is missing")
    return word


def _closer(cursor: Cursor) -> str:
    char = cursor.peek()
    if char == ";":
        found = _CASE_BREAK.match(cursor.text, cursor.at, cursor.end)
        return found[0] if found else ""
    if char == ")":
        return char
    word = _reserved_word(cursor)
    return word if word in _CLOSING_WORDS else ""


def _reserved_word(cursor: Cursor) -> str:
    if cursor.peek() not in _RESERVED_STARTS:
        return ""
    found = _RESERVED.match(cursor.text, cursor.at, cursor.end)
    return found[0] if found else ""


def _read_chain(cursor: Cursor, closers: frozenset[str]) -> Node:
    """Read commands one after the other, up to one of the closers or to one of an outer construct."""
    nodes, joiners = list[Node](), list[str]()
    while _finds_command(cursor, closers):
        before = cursor.at
        nodes.append(_read_pipe(cursor))
        if cursor.peek() == "#":
            cursor.skip_comment()
        separator = cursor.take(_SEPARATOR)
        joiners.append(separator[0] if separator else ";")
        if separator is None:
            _step_over_odd(cursor, before)
    if joiners and joiners[-1] in ("&&", "||"):
        cursor.doubt()
    if len(nodes) == 1 and joiners[0] != "&":
        return nodes[0]
    return tree.Chain(tuple(nodes), tuple(joiners))


def _finds_command(cursor: Cursor, closers: frozenset[str]) -> bool:
    """Step to the next command; at the top of the line, over closers that close nothing."""
    while cursor.at < cursor.end:
        skip_lines(cursor)
        closer = _closer(cursor)
        if not closer or closers != _AT_END or closer in ")}" or cursor.budget.depth:
            return not closer and cursor.at < cursor.end
        cursor.budget.trouble(f"`{closer}` is out of place")
        cursor.at += len(closer)
    return False


def _step_over_odd(cursor: Cursor, before: int) -> None:
    """Note what cannot follow a command, and step over it, so that the rest is still read."""
    char = cursor.peek()
    if char in ("", "\n") or _closer(cursor):
        return
    cursor.doubt()
    if cursor.at == before or char != "(":
        cursor.budget.trouble(f"`{char}` is out of place")
    cursor.at += cursor.at == before or char in "|&;("


def _read_pipe(cursor: Cursor) -> Node:
    node = _read_command(cursor)
    if cursor.peek() != "|" or not cursor.take(_PIPE):
        return node
    nodes = [node]
    while True:
        skip_lines(cursor)
        nodes.append(_read_command(cursor))
        if not cursor.take(_PIPE):
            return tree.Pipe(tuple(nodes))


def _read_command(cursor: Cursor) -> Node:
    """Read the command that starts here, where no blank is, and step over the blanks after it."""
    cursor.count_command()
    negated, word = False, _reserved_word(cursor)
    while word in ("!", "time", "coproc"):
        if word == "!":
            negated = not negated
            cursor.at += 1
        elif word == "coproc":
            cursor.take(_COPROC)
            if cursor.budget.depth:
                cursor.doubt()  # inside a substitution bash 5.2 takes its words for other ones
        elif not cursor.take(_TIME_KEYWORD):
            break
        cursor.skip_blanks()
        word = _reserved_word(cursor)
    reader = _COMPOUNDS.get("(" if cursor.peek() == "(" else word)
    if reader is None and not ("(" in cursor.text and _FUNCTION.match(cursor.text, cursor.at, cursor.end)):
        return read_simple(cursor, negated=negated)
    cursor.go_deeper()
    node = (reader or _read_function)(cursor)
    cursor.budget.depth -= 1
    return node


def _read_parenthesis(cursor: Cursor) -> Node:
    test = read_arithmetic_command(cursor) if cursor.sees("((") else None
    if test is not None:
        return tree.Group(test, read_redirects(cursor))
    cursor.at += 1
    return tree.Group(_read_body(cursor, ")"), read_redirects(cursor), is_subshell=True)


def _read_group(cursor: Cursor) -> Node:
    cursor.at += 1
    return tree.Group(_read_body(cursor, "}"), read_redirects(cursor))


def _read_if(cursor: Cursor) -> Node:
    nodes, closer = list[Node](), "elif"
    cursor.at += len("if")
    while closer == "elif":
        nodes.append(_read_body(cursor, "then"))
        nodes.append(_read_chain(cursor, frozenset(("elif", "else", "fi"))))
        closer = _expect(cursor, ("elif", "else", "fi"))
    if closer == "else":
        nodes.append(_read_body(cursor, "fi"))
    return tree.Branches(tuple(nodes), read_redirects(cursor))


def _read_loop(cursor: Cursor) -> Node:
    is_until = cursor.peek() == "u"
    cursor.at += len("while")
    condition = _read_body(cursor, "do")
    body = _read_body(cursor, "done")
    return tree.Loop(condition, body, read_redirects(cursor), until=is_until)


def _read_for(cursor: Cursor) -> Node:
    cursor.at += len(_reserved_word(cursor))
    cursor.skip_blanks()
    name, endless = "", False
    items: tuple[Word, ...] | None
    if cursor.sees("(("):
        cursor.at += 2
        endless = _ENDLESS.match(cursor.text, cursor.at, cursor.end) is not None
        items = (Word((tree.Arithmetic(read_arithmetic(cursor, "))") or ()),)),)
    else:
        name, items = _read_for_head(cursor)
    cursor.skip_blanks()
    cursor.at += cursor.peek() == ";"
    skip_lines(cursor)
    opener = _reserved_word(cursor)
    if opener not in ("do", "{"):
        cursor.budget.trouble("`do` is missing")
        return tree.For(name, items, EMPTY)
    cursor.at += len(opener)
    body = _read_body(cursor, "done" if opener == "do" else "}")
    if endless:
        return tree.Loop(tree.Condition((literal("true"),)), body, read_redirects(cursor))
    return tree.For(name, items, body, read_redirects(cursor))


def _read_for_head(cursor: Cursor) -> tuple[str, tuple[Word, ...] | None]:
    """Read the variable of a loop and the words that it takes, if the loop names them."""
    found = cursor.take(_NAME)
    if not found:
        cursor.doubt()
        read_word(cursor)
    skip_lines(cursor, semicolons=False)
    if _reserved_word(cursor) != "in":
        return found[0] if found else "", None
    cursor.at += len("in")
    items = list[Word]()
    while True:
        cursor.skip_blanks()
        word = Word() if cursor.peek() in _ENDS_ITEMS else read_word(cursor)
        if not word.parts:
            return found[0] if found else "", tuple(items)
        items.append(word)


def _read_case(cursor: Cursor) -> Node:
    cursor.at += len("case")
    cursor.skip_blanks()
    nodes: list[Node] = [tree.Condition((literal(":"), read_word(cursor)))]
    skip_lines(cursor)
    if _reserved_word(cursor) == "in":
        cursor.at += len("in")
    else:
        cursor.doubt()
    while True:
        skip_lines(cursor)
        if cursor.ended:
            cursor.doubt()
            break
        if _reserved_word(cursor) == "esac":
            cursor.at += len("esac")
            break
        before = cursor.at
        patterns = _read_patterns(cursor)
        if patterns:
            nodes.append(tree.Condition((literal(":"), *patterns)))
        nodes.append(_read_chain(cursor, _CASE_ENDS))
        if _expect(cursor, _CASE_ENDS) in ("esac", "") or cursor.at == before:
            break
    return tree.Branches(tuple(nodes), read_redirects(cursor))


def _read_patterns(cursor: Cursor) -> list[Word]:
    """Read the patterns of one branch of `case`; return those in which something is expanded."""
    words = list[Word]()
    while not cursor.ended and cursor.peek() != ")":
        char = cursor.peek()
        word = Word() if char in "(| \t\n\r" else read_word(cursor, PATTERN)
        if not word.parts:
            cursor.at += 1
        elif any(not isinstance(part, Text) for part in word.parts):
            words.append(word)
        if char in "#;&\n" or (not word.parts and char in "<>"):
            cursor.doubt()
    cursor.at += 1
    return words


def _read_function(cursor: Cursor) -> Node:
    named = cursor.take(_FUNCTION_KEYWORD) or cursor.take(_FUNCTION)
    if not named:
        cursor.doubt()
        cursor.at += len("function")
        return EMPTY
    skip_lines(cursor)
    return tree.Function(named[1], _read_command(cursor))


_COMPOUNDS: dict[str, Callable[[Cursor], Node]] = {
    "(": _read_parenthesis,
    "{": _read_group,
    "if": _read_if,
    "while": _read_loop,
    "until": _read_loop,
    "for": _read_for,
    "select": _read_for,
    "case": _read_case,
    "[[": lambda cursor: tree.Group(read_test(cursor), read_redirects(cursor)),
    "function": _read_function,
}
