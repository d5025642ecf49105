"""Read one word: quotes, escapes and everything that is expanded. An open quote ends where the text ends."""

import re
from collections.abc import Callable

from snell.packs.guard.shell.source_text import Budget, Source
from snell.packs.guard.shell.tree import Arithmetic, Node, Part, Substitution, Text, Variable, Word
from snell.shell import ansi_quotes
from snell.system.lazy_regex import lazy_regex

Reader = Callable[[Source, frozenset[str]], Node]

_PLAIN = lazy_regex("[^ \t\n\r\\\\'\"$`|&;<>()]+")
_PLAIN_QUOTED = lazy_regex('[^\\\\"$`]+')
_PLAIN_HEREDOC = lazy_regex("[^\\\\$`]+")
_PLAIN_BRACED = lazy_regex("[^\\\\'\"$`}]+")
_SINGLE = lazy_regex("'([^']*)'")
_ANSI = lazy_regex(r"\$'((?:[^'\\]|\\.)*)'", re.DOTALL)
_BACKTICKS = lazy_regex(r"`((?:[^`\\]|\\.)*)`", re.DOTALL)
_BACKTICK_ESCAPE = lazy_regex(r"\\([$`\\])")
_NAME = lazy_regex(r"\$([A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-])")
_BRACED_NAME = lazy_regex(r"\$\{([#!]?)([A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*#?$!-])(\[[^\]]*\])?")
_BRACED_OPERATOR = lazy_regex(r":[-=?+]|[-=?+]|##?|%%?|//?[#%]?|\^\^?|,,?|@|:")
_EXTENDED = lazy_regex(r"[?*+@!]\Z")
_PARENTHESES = lazy_regex(r"\([^()]*\)")


class WordReader:
    """Reads words; `read_body` reads the commands inside substitutions."""

    def __init__(self, source: Source, read_body: Reader) -> None:
        self.source = source
        self.read_body = read_body

    def word(self) -> Word:
        """The word that starts here; one without parts when none does."""
        source, parts = self.source, list[Part]()
        while not source.ended:
            plain = source.take(_PLAIN)
            if plain:
                parts.append(Text(plain[0]))
            elif not self._piece(parts):
                break
        return Word(tuple(parts))

    def heredoc(self, text: str) -> Word:
        """The parts of a here-document in which expansion happens."""
        inner = WordReader(Source(text, self.source.budget), self.read_body)
        return Word(tuple(inner._until("", _PLAIN_HEREDOC, "$`\\", quoted=True)))

    def _piece(self, parts: list[Part]) -> bool:
        source, char = self.source, self.source.peek()
        if char == "'":
            parts.append(Text(self._single(), quoted=True))
        elif char == '"':
            source.at += 1
            self._double(parts)
        elif char == "\\":
            self._escape(parts)
        elif char in ("$", "`"):
            parts.extend(self._expansion(quoted=False))
        elif char in ("<", ">") and source.peek(1) == "(":
            source.at += 2
            parts.append(Substitution(self._body(")"), process=char))
        elif char == "(" and parts and isinstance(parts[-1], Text) and self._is_pattern(parts[-1]):
            parts.append(Text(self._pattern_group()))
        else:
            return False
        return True

    def _is_pattern(self, part: Text) -> bool:
        return not part.quoted and _EXTENDED.search(part.text) is not None

    def _pattern_group(self) -> str:
        group = self.source.take(_PARENTHESES)
        if group:
            return group[0]
        self.source.at += 1
        return "("

    def _single(self) -> str:
        quoted = self.source.take(_SINGLE)
        if quoted:
            return quoted[1]
        self.source.budget.trouble("a single quote is never closed")
        return self._rest()

    def _rest(self) -> str:
        rest = self.source.text[self.source.at + 1 :]
        self.source.at = len(self.source.text)
        return rest

    def _double(self, parts: list[Part]) -> None:
        before = len(parts)
        parts.extend(self._until('"', _PLAIN_QUOTED, '$`"\\', quoted=True))
        if len(parts) == before:
            parts.append(Text("", quoted=True))

    def _until(self, closing: str, plain: re.Pattern[str], escapes: str, *, quoted: bool) -> list[Part]:
        source, parts = self.source, list[Part]()
        while not source.ended:
            if closing and source.peek() == closing:
                source.at += 1
                return parts
            run = source.take(plain)
            if run:
                parts.append(Text(run[0], quoted))
            elif source.peek() == "\\":
                self._escape(parts, escapes)
            elif source.peek() in ("$", "`"):
                parts.extend(self._expansion(quoted=quoted))
            else:
                self._quote_inside(parts)
        if closing:
            name = "double quote" if closing == '"' else "`${`"
            source.budget.trouble(f"a {name} is never closed")
        return parts

    def _quote_inside(self, parts: list[Part]) -> None:
        """A quote inside `${ }`; in a here-document it stands for itself."""
        char = self.source.peek()
        if char == "'":
            parts.append(Text(self._single(), quoted=True))
        else:
            self.source.at += 1
            if char == '"':
                self._double(parts)
            else:
                parts.append(Text(char, quoted=True))

    def _escape(self, parts: list[Part], special: str = "") -> None:
        char = self.source.peek(1)
        self.source.at += 2
        if char == "\n":
            return
        kept = char if not special or char in special else "\\" + char
        if kept:
            parts.append(Text(kept, quoted=True))

    def _expansion(self, *, quoted: bool) -> list[Part]:
        source = self.source
        if source.peek() == "`":
            return [Substitution(self._backticks(), quoted)]
        following = source.peek(1)
        if following == "'" and not quoted:
            return [Text(self._ansi(), quoted=True)]
        if following == '"' and not quoted:
            source.at += 2
            parts = list[Part]()
            self._double(parts)
            return parts
        if following == "(":
            return [self._parenthesis(quoted=quoted)]
        if following == "[":
            return [self._arithmetic(2, "]")]
        if following == "{":
            return [self._parameter(quoted=quoted)]
        name = source.take(_NAME)
        if name:
            return [Variable(name[1], quoted=quoted)]
        source.at += 1
        return [Text("$", quoted)]

    def _ansi(self) -> str:
        quoted = self.source.take(_ANSI)
        if not quoted:
            self.source.budget.trouble("a `$'` quote is never closed")
            self.source.at += 1
            return self._rest()
        return ansi_quotes.decode_ansi_quotes(quoted[1]) or quoted[1]

    def _backticks(self) -> Node:
        source = self.source
        quoted = source.take(_BACKTICKS)
        if quoted:
            text = _BACKTICK_ESCAPE.sub(r"\1", quoted[1])
        else:
            source.budget.trouble("a backtick is never closed")
            text = self._rest()
        return self._nested_commands(Source(text, source.budget), "")

    def _parenthesis(self, *, quoted: bool) -> Part:
        source = self.source
        if source.sees("$(("):
            return self._arithmetic(3, "))")
        source.at += 2
        return Substitution(self._body(")"), quoted)

    def _arithmetic(self, opening: int, closing: str) -> Part:
        """An expression; what is not one after all, `$((a); b)`, is read as commands."""
        source, start, budget = self.source, self.source.at, self.source.budget
        source.at += opening
        inside, depth = list[Part](), 0
        while not source.ended:
            if not depth and source.sees(closing):
                source.at += len(closing)
                return Arithmetic(tuple(inside))
            char = source.peek()
            if char in ("$", "`"):
                inside.extend(self._expansion(quoted=True))
                continue
            depth += (char == "(") - (char == ")")
            if depth < 0:
                source.at = start + 2
                return Substitution(self._body(")"))
            source.at += 1
        budget.trouble("an arithmetic expression is never closed")
        return Arithmetic(tuple(inside))

    def _parameter(self, *, quoted: bool) -> Part:
        source = self.source
        head = source.take(_BRACED_NAME)
        if not head:
            return self._odd_braces(quoted=quoted)
        operator = source.take(_BRACED_OPERATOR)
        argument = Word(tuple(self._until("}", _PLAIN_BRACED, "", quoted=quoted)))
        name = head[2] + (head[3] or "")
        if head[1]:
            return Variable(name, "length" if head[1] == "#" else "indirect", argument, quoted)
        return Variable(name, operator[0] if operator else "", argument, quoted)

    def _odd_braces(self, *, quoted: bool) -> Part:
        """`${ commands; }`, which newer shells run."""
        source = self.source
        source.at += 2
        if source.peek() == "{":  # a template of a build service, filled in before any shell sees it
            end = source.text.find("}}", source.at)
            source.at = end + 2 if end >= 0 else len(source.text)
            return Variable("?template", quoted=quoted)
        if source.peek() in (" ", "\t", "\n", "|"):
            return Substitution(self._body("}"), quoted)
        self._until("}", _PLAIN_BRACED, "", quoted=quoted)
        source.budget.trouble("a `${ }` that no shell would read")
        return Variable("?", quoted=quoted)

    def _body(self, closer: str) -> Node:
        return self._nested_commands(self.source, closer)

    def _nested_commands(self, source: Source, closer: str) -> Node:
        budget: Budget = source.budget
        budget.deeper()
        waiting, source.heredocs = source.heredocs, []
        node = self.read_body(source, frozenset((closer,)))
        source.heredocs = waiting + source.heredocs
        budget.depth -= 1
        return node
