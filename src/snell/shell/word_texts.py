"""The words of the tree as text, the way a hook author sees them: quotes resolved, expansions as they are written."""

from operator import attrgetter

from msgspec import Struct

from snell.shell.command_line import Redirect
from snell.shell.tree import Assignment, Part, Simple, Text, Word
from snell.shell.tree import Redirect as RedirectNode
from snell.system.lazy_regex import lazy_regex

_MAY_CHANGE = lazy_regex(r"[~*?\[{]")
_MARKS = ("*", "?", "=~", ":~")


class WordText(Struct, frozen=True, gc=False):
    text: str
    start: int
    end: int
    literal: bool = True  # nothing in it is left for run time: no expansion, pattern, brace list or home folder
    parts: tuple[Part, ...] = ()
    source: str = ""  # that the parts were read from

    @property
    def expands(self) -> bool:
        return any(not isinstance(part, Text) for part in self.parts)

    @property
    def splits(self) -> bool:
        """The word may become several words, or none."""
        expanded = [part for part in self.parts if not isinstance(part, Text)]
        return any(not part.quoted or "@" in self.source[part.start : part.end] for part in expanded)

    @property
    def opaque(self) -> str:
        """The text with every substitution emptied: its commands are not found twice when it is read again."""
        if not self.expands:
            return self.text
        texts = [_text(part, self.source) for part in self.parts]
        holes = [not isinstance(part, Text) for part in self.parts]
        pairs = zip(texts, holes, strict=True)
        return "".join("$()" if hole and ("(" in text or "`" in text) else text for text, hole in pairs)


def text_of(word: Word, source: str) -> WordText:
    """Return the text of a word that was read from this source."""
    parts = word.parts
    if len(parts) == 1 and type(parts[0]) is Text:
        part = parts[0]
        literal = part.quoted or not _MAY_CHANGE.search(part.text) or _stands_for_itself(part.text)
        return WordText(part.text, word.start, word.end, literal)
    bare = _bare(parts)
    text = "".join([_text(part, source) for part in parts])
    return WordText(text, word.start, word.end, bare is not None and _stands_for_itself(bare), parts, source)


def _text(part: Part, source: str) -> str:
    return part.text if isinstance(part, Text) else source[part.start : part.end]


def words_of(node: Simple, source: str) -> list[WordText]:
    """Return the words of a command; an array that `declare` is given is one of them."""
    words = [text_of(word, source) for word in node.words]
    for each in node.assignments:
        if words and each.start > words[0].start:
            text = source[each.start : each.value.end]
            words.append(WordText(text, each.start, each.value.end))
            words.sort(key=attrgetter("start"))
    return words


def assignments_of(node: Simple, source: str) -> tuple[tuple[str, str], ...]:
    """Return the names and values that are assigned before the command."""
    first = node.words[0].start if node.words else node.end
    return tuple([_name_and_value(each, source) for each in node.assignments if each.start < first])


def redirects_of(node: Simple, source: str) -> tuple[Redirect, ...]:
    return tuple([_redirect(each, source) for each in node.redirects])


def _name_and_value(assignment: Assignment, source: str) -> tuple[str, str]:
    value, is_array = assignment.value, assignment.items is not None
    text = source[value.start : value.end] if is_array else text_of(value, source).text
    return assignment.name + assignment.subscript, text


def _redirect(redirect: RedirectNode, source: str) -> Redirect:
    """Return a redirection as hook authors see it, without a descriptor that a variable names."""
    fd = int(redirect.fd[:9]) if redirect.fd.isdigit() else None
    target = text_of(redirect.target, source)
    body = text_of(redirect.body, source).text if redirect.body else None
    return Redirect(redirect.operator, target.text, fd, target.literal, body)


def _bare(parts: tuple[Part, ...]) -> str | None:
    """Return what the shell itself acts on, with NUL for what is quoted; None where something is expanded."""
    if not all(isinstance(part, Text) for part in parts):
        return None
    return "".join(["\0" if part.quoted else part.text for part in parts if isinstance(part, Text)])


def _stands_for_itself(bare: str) -> bool:
    if bare.startswith("~") or any(mark in bare for mark in _MARKS) or _within(bare, "[", "]"):
        return False
    listed = _within(bare, "{", "}")
    return "," not in listed and ".." not in listed


def _within(text: str, opening: str, closing: str) -> str:
    """Return the text from the first opening to the last closing mark, both included."""
    start, end = text.find(opening), text.rfind(closing)
    return text[start : end + 1] if 0 <= start < end else ""
