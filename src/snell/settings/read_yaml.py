"""
Read YAML into values with line numbers, from the parser's events.

Anchors, aliases and tags are errors: a few lines of them can expand to gigabytes, or create objects.
"""

import math
import re
from collections.abc import Iterator
from itertools import takewhile
from typing import Any

from snell.settings.value_tree import InvalidValueError, Node, check_depth

_IN_TEXTS = 1_000  # unclosed brackets that may be inside of texts
_PREFIX = "tag:yaml.org,2002:"


def read_yaml(text: str, first_line: int = 1) -> Node | None:
    """Return the value in a text; None for an empty text. `first_line` is the text's first line in its file."""
    # The YAML library takes 30 ms to import, and few files need it.
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    _check_brackets(text, first_line)
    yaml = YAML(typ="safe", pure=True)
    try:
        return _Reader(yaml, text, first_line).document()
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = first_line + (mark.line if mark else 0)
        what = error.problem or error.context
    except (YAMLError, ValueError, RecursionError) as error:
        line, what = first_line, str(error).splitlines()[0]
    raise InvalidValueError(f"this is not valid YAML: {what}", line, "correct it")


def _check_brackets(text: str, first_line: int) -> None:
    """Refuse what is nested far too deep: the library takes minutes for it. Brackets inside of texts count as well."""
    depth = 0
    for bracket in re.findall(r"[][{}]", text):
        depth = depth + 1 if bracket in "[{" else max(0, depth - 1)
        check_depth(depth - _IN_TEXTS, first_line)


class _Reader:
    """Reads the tree from the parser's events."""

    def __init__(self, yaml: Any, text: str, first_line: int) -> None:
        self._events: Iterator[Any] = yaml.parse(text)
        self._resolver = yaml.resolver
        self._first_line = first_line

    def document(self) -> Node | None:
        found: Node | None = None
        for event in self._events:
            if type(event).__name__ == "DocumentStartEvent":
                if found is not None:
                    raise InvalidValueError("there is a second document", self._line(event), "keep one")
                found = self._value(next(self._events), 0)
        return found

    def _line(self, event: Any) -> int:
        return self._first_line + int(event.start_mark.line)

    def _value(self, event: Any, depth: int) -> Node:
        line, name = self._line(event), type(event).__name__
        if event.anchor:  # an alias has one, too
            raise InvalidValueError("anchors and aliases are not allowed", line, "write the value out")
        if name == "ScalarEvent":
            return Node(self._scalar(event, line), line)
        check_depth(depth, line)
        if event.tag:
            raise InvalidValueError("tags are not allowed", line, "write the plain value")
        inside = takewhile(lambda each: not type(each).__name__.endswith("EndEvent"), self._events)
        if name == "SequenceStartEvent":
            return Node([self._value(each, depth + 1) for each in inside], line)
        table: dict[str, Node] = {}
        for each in inside:
            key, value = self._value(each, depth + 1), self._value(next(self._events), depth + 1)
            if key.is_table or key.is_list:
                raise InvalidValueError("a key must be text", key.line, "quote it")
            if (text := str(key.value)) in table:
                raise InvalidValueError(f"the key `{text[:80]}` is given twice", key.line, "keep one of them")
            table[text] = Node(value.value, key.line)
        return Node(table, line)

    def _scalar(self, event: Any, line: int) -> Any:
        from ruamel.yaml.nodes import ScalarNode

        if event.tag and str(event.tag) not in ("!", f"{_PREFIX}str"):
            raise InvalidValueError("tags are not allowed", line, "write the plain value")
        if event.tag or event.style:
            return str(event.value)
        tag = self._resolver.resolve(ScalarNode, event.value, event.implicit)
        match str(tag).removeprefix(_PREFIX):
            case "bool":
                return event.value.lower() == "true"
            case "null":
                return None
            case "int" | "float":
                return _number(event.value.replace("_", ""), line)
        return event.value


def _number(text: str, line: int) -> int | float:
    if len(text) > 40:
        raise InvalidValueError("the number is too long", line, "use a shorter one")
    lowered = text.lower().lstrip("+-")
    if lowered in (".inf", ".nan"):
        return math.nan if lowered == ".nan" else math.inf
    try:
        return int(text, 0) if lowered[:2] in ("0x", "0o", "0b") else int(text)
    except ValueError:
        return float(text)
