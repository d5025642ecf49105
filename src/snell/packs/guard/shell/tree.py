"""
The tree of a command line.

The reader in `snell.sdk` lists commands; the guard also has to know what flows where (a pipe, a variable, a file that
is written and then run), and that needs a tree.
"""

from __future__ import annotations

from msgspec import Struct


class Text(Struct, frozen=True, gc=False):
    text: str
    quoted: bool = False


class Variable(Struct, frozen=True):
    """`$name` or `${name<operator><argument>}`; the operator is `""`, `:-`, `#`, `//` and so on."""

    name: str
    operator: str = ""
    argument: Word | None = None
    quoted: bool = False


class Substitution(Struct, frozen=True):
    """The output of commands: `$( )` or backticks; with `process` a file name that stands for it."""

    body: Node
    quoted: bool = False
    process: str = ""  # `<` or `>`


class Arithmetic(Struct, frozen=True):
    inside: tuple[Part, ...] = ()


Part = Text | Variable | Substitution | Arithmetic


class Word(Struct, frozen=True):
    parts: tuple[Part, ...] = ()

    @property
    def plain(self) -> str | None:
        """The text of a word in which nothing is expanded."""
        if len(self.parts) == 1 and isinstance(self.parts[0], Text):
            return self.parts[0].text
        return "".join(part.text for part in self.parts if isinstance(part, Text)) if self._is_text else None

    @property
    def _is_text(self) -> bool:
        return all(isinstance(part, Text) for part in self.parts)

    @property
    def is_quoted(self) -> bool:
        return any(not isinstance(part, Arithmetic) and part.quoted for part in self.parts)


class Redirect(Struct):
    operator: str
    target: Word
    fd: str = ""
    body: Word | None = None  # of a here-document, filled in when its line ends


class Assignment(Struct, frozen=True):
    name: str
    value: Word
    adds: bool = False
    items: tuple[Word, ...] | None = None  # of an array


class Simple(Struct, frozen=True):
    words: tuple[Word, ...] = ()
    assignments: tuple[Assignment, ...] = ()
    redirects: tuple[Redirect, ...] = ()


class Pipe(Struct, frozen=True):
    stages: tuple[Node, ...]


class Chain(Struct, frozen=True):
    """Commands one after the other; `joiners[i]` stands after `items[i]`: `;`, `&`, `&&` or `||`."""

    items: tuple[Node, ...] = ()
    joiners: tuple[str, ...] = ()


class Group(Struct, frozen=True):
    body: Node
    redirects: tuple[Redirect, ...] = ()
    is_subshell: bool = False


class Branches(Struct, frozen=True):
    """`if` and `case`: any of these may run."""

    nodes: tuple[Node, ...]
    redirects: tuple[Redirect, ...] = ()


class Loop(Struct, frozen=True):
    condition: Node
    body: Node
    redirects: tuple[Redirect, ...] = ()
    until: bool = False


class For(Struct, frozen=True):
    name: str
    items: tuple[Word, ...] | None
    body: Node
    redirects: tuple[Redirect, ...] = ()


class Function(Struct, frozen=True):
    name: str
    body: Node


Node = Simple | Pipe | Chain | Group | Branches | Loop | For | Function

EMPTY = Chain()
