"""Read a command line into a tree. It never raises for bad text: what is out of place is noted and stepped over."""

import re

from snell.packs.guard.shell.heredocs import read_heredocs
from snell.packs.guard.shell.source_text import LONGEST_LINE, Budget, Source, TooMuchError
from snell.packs.guard.shell.tree import (
    EMPTY,
    Assignment,
    Branches,
    Chain,
    For,
    Function,
    Group,
    Loop,
    Node,
    Pipe,
    Redirect,
    Simple,
    Text,
    Word,
)
from snell.packs.guard.shell.words import WordReader
from snell.system.lazy_regex import lazy_regex

_RESERVED = lazy_regex(
    r"(?:if|then|elif|else|fi|for|while|until|do|done|case|esac|select|function|coproc|time|\[\[|[{}!])"
    r"(?=[ \t\n\r;&|()<>]|\Z)"
)
_CLOSERS = frozenset(("then", "elif", "else", "fi", "do", "done", "esac", "}"))
_CASE_ENDS = frozenset((";;", ";&", ";;&", "esac"))
_CASE_BREAK = lazy_regex(";;&|;;|;&")
_SEPARATOR = lazy_regex(r"&&|\|\||;(?![;&])|&(?![&>])|\n")
_PIPE = lazy_regex(r"\|&|\|(?!\|)")
_FUNCTION = lazy_regex(r"""([^ \t\n\r|&;<>()$`'"\\=]+)[ \t]*\([ \t]*\)""")
_FUNCTION_WORD = lazy_regex(r"""function[ \t]+([^ \t\n\r|&;<>()$`'"\\]+)(?:[ \t]*\([ \t]*\))?""")
_REDIRECT = lazy_regex(r"([0-9]+(?=[<>])|\{[A-Za-z_]\w*\}(?=[<>]))?(<<<|<<-|<<|<&|<>|<(?!\()|>>|>&|>\||>(?!\()|&>>|&>)")
_ASSIGNMENT = lazy_regex(r"([A-Za-z_][A-Za-z0-9_]*)(\[[^\]]*\])?(\+?)=")
_ENDLESS = lazy_regex(r"\(\([^;()]*;\s*(?:1|true)?\s*;[^;()]*\)\)")
_ARITHMETIC = lazy_regex(r"\(\((?:[^()]|\([^()]*\))*\)\)")
_TEST_END = lazy_regex(r"\]\](?=[ \t\n\r;&|)]|\Z)")
_NAME = lazy_regex(r"[ \t]*([A-Za-z_][A-Za-z0-9_]*)")
_ODD = lazy_regex(r"[|&;)]+|.", re.DOTALL)
_COPROC_NAME = lazy_regex(r"[A-Za-z_]\w*[ \t]+(?=[({]|while|until|for|if|case)")
_DECLARES = frozenset(("declare", "typeset", "local", "export", "readonly"))


def read(line: str, budget: Budget) -> Node:
    """The tree of the line. Raises TooMuchError past the limits."""
    if len(line) > LONGEST_LINE:
        raise TooMuchError(f"it is longer than {LONGEST_LINE // 1024} KB")
    source = Source(line, budget)
    nodes = list[Node]()
    while not source.ended:
        nodes.append(_chain(source, frozenset(("",))))
        if not source.ended:
            odd = source.take(_ODD)
            budget.trouble(f"`{odd[0] if odd else ''}` is out of place")
    return nodes[0] if len(nodes) == 1 else Chain(tuple(nodes), (";",) * len(nodes))


def _body(source: Source, closers: frozenset[str]) -> Node:
    """Commands up to one of the closers, which is stepped over."""
    node = _chain(source, closers)
    _expect(source, closers)
    return node


def _expect(source: Source, closers: frozenset[str]) -> str:
    word = _closer(source)
    if word in closers:
        source.at += len(word)
    elif "" not in closers:
        source.budget.trouble(f"`{'` or `'.join(sorted(closers))}` is missing")
    return word


def _closer(source: Source) -> str:
    source.skip_blanks()
    char = source.peek()
    if char == ";":
        found = _CASE_BREAK.match(source.text, source.at)
        return found[0] if found else ""
    if char == ")":
        return char
    word = _reserved_word(source)
    return word if word in _CLOSERS else ""


def _reserved_word(source: Source) -> str:
    found = _RESERVED.match(source.text, source.at)
    return found[0] if found else ""


def _chain(source: Source, closers: frozenset[str]) -> Node:
    items, joiners = list[Node](), list[str]()
    while True:
        _skip_lines(source)
        if source.ended:
            break
        closer = _closer(source)
        if closer:
            if closer in closers or closer in (")", "}") or source.budget.depth or len(closers) > 1:
                break
            source.budget.trouble(f"`{closer}` is out of place")
            source.at += len(closer)
            continue
        before = source.at
        items.append(_pipe(source))
        source.skip_blanks()
        if source.peek() == "#":
            source.skip_comment()
        separator = None if source.peek() == "\n" else source.take(_SEPARATOR)
        joiners.append(separator[0] if separator else ";")
        if separator is None:
            _step_over_odd(source, before)
    if len(items) == 1 and joiners[0] != "&":
        return items[0]
    return Chain(tuple(items), tuple(joiners))


def _step_over_odd(source: Source, before: int) -> None:
    """What cannot follow a command is noted and stepped over, so that the rest is still read."""
    char = source.peek()
    if char in ("", "\n") or _closer(source):
        return
    if source.at == before or char != "(":
        source.budget.trouble(f"`{char}` is out of place")
    source.at += source.at == before or char in ("|", "&", ";", "(")


def _pipe(source: Source) -> Node:
    stages = [_command(source)]
    while True:
        source.skip_blanks()
        if not source.take(_PIPE):
            break
        _skip_lines(source)
        stages.append(_command(source))
    return stages[0] if len(stages) == 1 else Pipe(tuple(stages))


def _command(source: Source) -> Node:
    source.budget.count_command()
    source.skip_blanks()
    word = _reserved_word(source)
    while word in ("!", "time", "coproc"):
        source.at += len(word)
        source.skip_blanks()
        if word == "time":
            source.take(re.compile(r"-p[ \t]+"))
        if word == "coproc":
            source.take(_COPROC_NAME)
        word = _reserved_word(source)
    source.budget.deeper()
    node = _compound(source, word)
    source.budget.depth -= 1
    return _simple(source) if node is None else node


def _compound(source: Source, word: str) -> Node | None:
    if source.peek() == "(":
        return _parenthesis(source)
    if word in _READERS:
        source.at += len(word) if word != "function" else 0
        return _READERS[word](source)
    named = source.take(_FUNCTION)
    if named:
        return _function(source, named[1])
    return None


def _parenthesis(source: Source) -> Node:
    if source.sees("((") and source.take(_ARITHMETIC):
        return Simple((_literal("true"),))
    source.at += 1
    return Group(_body(source, frozenset((")",))), _redirects(source), is_subshell=True)


def _brace(source: Source) -> Node:
    return Group(_body(source, frozenset(("}",))), _redirects(source))


def _if(source: Source) -> Node:
    nodes, closer = list[Node](), "elif"
    while closer == "elif":
        nodes.append(_body(source, frozenset(("then",))))
        nodes.append(_chain(source, frozenset(("elif", "else", "fi"))))
        closer = _expect(source, frozenset(("elif", "else", "fi")))
    if closer == "else":
        nodes.append(_body(source, frozenset(("fi",))))
    return Branches(tuple(nodes), _redirects(source))


def _loop(source: Source) -> Node:
    condition = _body(source, frozenset(("do",)))
    body = _body(source, frozenset(("done",)))
    return Loop(condition, body, _redirects(source))


def _until(source: Source) -> Node:
    loop = _loop(source)
    return Loop(loop.condition, loop.body, loop.redirects, until=True) if isinstance(loop, Loop) else loop


def _for(source: Source) -> Node:
    source.skip_blanks()
    name, items = "", None
    endless = source.take(_ENDLESS) is not None
    if endless or (source.sees("((") and source.take(_ARITHMETIC)):
        pass
    else:
        found = source.take(_NAME)
        name = found[1] if found else ""
        _skip_lines(source)
        if source.take(re.compile(r"in(?=[ \t\n;])")):
            items = _words(source)
    source.skip_blanks()
    if source.peek() == ";":
        source.at += 1
    _skip_lines(source)
    opener = _reserved_word(source)
    if opener not in ("do", "{"):
        source.budget.trouble("`do` is missing")
        return For(name, items, EMPTY)
    source.at += len(opener)
    body = _body(source, frozenset(("done" if opener == "do" else "}",)))
    if endless:
        return Loop(Simple((_literal("true"),)), body, _redirects(source))
    return For(name, items, body, _redirects(source))


def _words(source: Source) -> tuple[Word, ...]:
    words = list[Word]()
    while True:
        source.skip_blanks()
        word = WordReader(source, _body).word()
        if not word.parts:
            return tuple(words)
        words.append(word)


def _case(source: Source) -> Node:
    source.skip_blanks()
    subject = WordReader(source, _body).word()
    _skip_lines(source)
    source.take(re.compile(r"in(?=[ \t\n;])"))
    nodes: list[Node] = [Simple((_literal(":"), subject))]
    while not source.ended:
        _skip_lines(source)
        if _reserved_word(source) == "esac":
            source.at += 4
            break
        _skip_pattern(source)
        before = source.at
        nodes.append(_chain(source, _CASE_ENDS))
        if _expect(source, _CASE_ENDS) in ("esac", "") or source.at == before:
            break
    return Branches(tuple(nodes), _redirects(source))


def _skip_pattern(source: Source) -> None:
    while not source.ended and source.peek() != ")":
        if source.peek() in ("(", "|", "\n", " ", "\t", "\r") or not WordReader(source, _body).word().parts:
            source.at += 1
    source.at += 1


def _function_word(source: Source) -> Node:
    named = source.take(_FUNCTION_WORD)
    if not named:
        source.at += len("function")
        return EMPTY
    return _function(source, named[1])


def _function(source: Source, name: str) -> Node:
    _skip_lines(source)
    return Function(name, _command(source))


def _test(source: Source) -> Node:
    """`[[ ... ]]`: only the commands substituted in it matter."""
    words = [_literal("[[")]
    while not source.ended:
        _skip_lines(source)
        if source.take(_TEST_END):
            break
        word = WordReader(source, _body).word()
        if word.parts:
            words.append(word)
        else:
            source.at += 1
    return Group(Simple(tuple(words)), _redirects(source))


_READERS = {
    "{": _brace,
    "if": _if,
    "while": _loop,
    "until": _until,
    "for": _for,
    "select": _for,
    "case": _case,
    "[[": _test,
    "function": _function_word,
}


def _simple(source: Source) -> Node:
    words, assignments, redirects = list[Word](), list[Assignment](), list[Redirect]()
    reader = WordReader(source, _body)
    while True:
        source.skip_blanks()
        if source.peek() == "#":
            source.skip_comment()
            break
        redirect = _redirect(source, reader)
        if redirect:
            redirects.append(redirect)
            continue
        declares = bool(words) and words[0].plain in _DECLARES
        assigned = _assignment(source, reader) if not words or declares else None
        if assigned and words and assigned.items is None:
            words.append(Word((Text(f"{assigned.name}="), *assigned.value.parts)))
        elif assigned:
            assignments.append(assigned)
        else:
            word = reader.word()
            if not word.parts:
                break
            words.append(word)
    return Simple(tuple(words), tuple(assignments), tuple(redirects))


def _assignment(source: Source, reader: WordReader) -> Assignment | None:
    head = _ASSIGNMENT.match(source.text, source.at)
    if not head:
        return None
    source.at = head.end()
    if source.peek() != "(":
        return Assignment(head[1], reader.word(), adds=bool(head[3]))
    source.at += 1
    items = list[Word]()
    while not source.ended and source.peek() != ")":
        _skip_lines(source)
        word = reader.word()
        if word.parts:
            items.append(word)
        elif source.peek() != ")":
            source.at += 1
    source.at += 1
    return Assignment(head[1], Word(), adds=bool(head[3]), items=tuple(items))


def _redirects(source: Source) -> tuple[Redirect, ...]:
    redirects = list[Redirect]()
    while True:
        before = source.at
        source.skip_blanks()
        redirect = _redirect(source, WordReader(source, _body))
        if not redirect:
            source.at = before
            return tuple(redirects)
        redirects.append(redirect)


def _redirect(source: Source, reader: WordReader) -> Redirect | None:
    found = source.take(_REDIRECT)
    if not found:
        return None
    source.skip_blanks()
    redirect = Redirect(found[2], reader.word(), (found[1] or "").strip("{}"))
    if found[2] in ("<<", "<<-"):
        source.heredocs.append(redirect)
    return redirect


def _skip_lines(source: Source) -> None:
    while True:
        source.skip_blanks()
        char = source.peek()
        if char == "#":
            source.skip_comment()
        elif char == "\n":
            source.at += 1
            if source.heredocs:
                read_heredocs(source, WordReader(source, _body))
        elif char == ";" and not _CASE_BREAK.match(source.text, source.at):
            source.at += 1
        else:
            return


def _literal(text: str) -> Word:
    return Word((Text(text),))
