"""
The tree of a command line.

Every word, expansion, redirection and simple command knows where it stands in the text that was read, so that a caller
can replace it there. What a construct does with its commands (a pipe, a loop, a subshell) is kept as well: a caller
that follows data through the line needs that.

No node can hold itself, so the garbage collector need not look at them (`gc=False`).
"""

from __future__ import annotations

from msgspec import Struct


class Text(Struct, frozen=True, gc=False):
    text: str
    quoted: bool = False


class Variable(Struct, frozen=True, gc=False):
    """`$name` or `${name<operator><argument>}`; the operator is `""`, `:-`, `#`, `//` and so on."""

    name: str
    operator: str = ""
    argument: Word | None = None
    quoted: bool = False
    start: int = 0
    end: int = 0
    subscript: tuple[Part, ...] = ()  # the expansions between `[` and `]`


class Substitution(Struct, frozen=True, gc=False):
    """The output of commands: `$( )` or backticks; with `process` a file name that stands for it."""

    body: Node
    quoted: bool = False
    process: str = ""  # `<` or `>`
    start: int = 0
    end: int = 0
    code: str | None = None  # the text that `body` was read from, where escapes had to be removed from it first


class Arithmetic(Struct, frozen=True, gc=False):
    inside: tuple[Part, ...] = ()  # the expansions in it
    quoted: bool = False
    start: int = 0
    end: int = 0


Part = Text | Variable | Substitution | Arithmetic


class Word(Struct, frozen=True, gc=False):
    parts: tuple[Part, ...] = ()
    start: int = 0
    end: int = 0

    @property
    def plain(self) -> str | None:
        """The text of a word in which nothing is expanded."""
        parts = self.parts
        if len(parts) == 1 and type(parts[0]) is Text:
            return parts[0].text
        texts = [part.text for part in parts if isinstance(part, Text)]
        return "".join(texts) if len(texts) == len(parts) else None

    @property
    def is_quoted(self) -> bool:
        return any([part.quoted for part in self.parts if type(part) is not Arithmetic])  # noqa: C419 - one or two


class Redirect(Struct, gc=False):
    operator: str
    target: Word
    fd: str = ""
    body: Word | None = None  # of a here-document, filled in when its line ends
    start: int = 0
    end: int = 0


class Assignment(Struct, frozen=True, gc=False):
    name: str
    value: Word
    adds: bool = False
    items: tuple[Word, ...] | None = None  # of an array
    subscript: str = ""  # with its brackets
    inside: tuple[Part, ...] = ()  # the expansions in the subscript
    start: int = 0


class Simple(Struct, frozen=True, gc=False):
    words: tuple[Word, ...] = ()
    assignments: tuple[Assignment, ...] = ()
    redirects: tuple[Redirect, ...] = ()
    start: int = 0
    end: int = 0
    negated: bool = False


class Condition(Simple, frozen=True, gc=False):
    """`[[ ]]`, `(( ))` or the words of `case`: only what is substituted in it runs. The first word is made up."""


class Pipe(Struct, frozen=True, gc=False):
    nodes: tuple[Node, ...]


class Chain(Struct, frozen=True, gc=False):
    """Commands one after the other; `joiners[i]` stands after `nodes[i]`: `;`, `&`, `&&` or `||`."""

    nodes: tuple[Node, ...] = ()
    joiners: tuple[str, ...] = ()


class Group(Struct, frozen=True, gc=False):
    body: Node
    redirects: tuple[Redirect, ...] = ()
    is_subshell: bool = False


class Branches(Struct, frozen=True, gc=False):
    """`if` and `case`: any of these may run."""

    nodes: tuple[Node, ...]
    redirects: tuple[Redirect, ...] = ()


class Loop(Struct, frozen=True, gc=False):
    condition: Node
    body: Node
    redirects: tuple[Redirect, ...] = ()
    until: bool = False


class For(Struct, frozen=True, gc=False):
    name: str
    items: tuple[Word, ...] | None
    body: Node
    redirects: tuple[Redirect, ...] = ()


class Function(Struct, frozen=True, gc=False):
    name: str
    body: Node


Compound = Group | Branches | Loop | For
Node = Simple | Pipe | Chain | Compound | Function

EMPTY = Chain()


def literal(text: str) -> Word:
    """Return a word that stands for this text."""
    return Word((Text(text),))
