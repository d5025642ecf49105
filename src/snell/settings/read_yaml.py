"""
Read YAML into values with line numbers, from the parser's events.

Anchors, aliases and tags are errors: a few lines of them can expand to gigabytes, or create objects.
"""

import math
from typing import Any

from snell.settings.value_tree import InvalidValueError, Node, check_depth

_PREFIX = "tag:yaml.org,2002:"


def read_yaml(text: str, first_line: int = 1) -> Node | None:
    """Return the value in a text; None for an empty text. `first_line` is the text's first line in its file."""
    # The YAML library takes 30 ms to import, and few files need it.
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    yaml = YAML(typ="safe", pure=True)
    try:
        return _Builder(yaml, first_line).build(yaml.parse(text))
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = first_line + (mark.line if mark else 0)
        what = error.problem or error.context
    except (YAMLError, ValueError, RecursionError) as error:
        line, what = first_line, str(error).splitlines()[0]
    raise InvalidValueError(f"this is not valid YAML: {what}", line, "correct it")


class _Builder:
    """Builds the tree without recursion; open tables and lists are on a stack."""

    def __init__(self, yaml: Any, first_line: int) -> None:
        from ruamel.yaml.nodes import ScalarNode

        self._scalar_node: Any = ScalarNode
        self._resolver = yaml.resolver
        self._first_line = first_line
        self._open: list[tuple[Node, list[Node]]] = []
        self._result: Node | None = None

    def build(self, events: Any) -> Node | None:
        for event in events:
            self._take(type(event).__name__, event)
        return self._result

    def _take(self, name: str, event: Any) -> None:
        line = self._first_line + event.start_mark.line
        if name == "AliasEvent" or getattr(event, "anchor", None):
            raise InvalidValueError("anchors and aliases are not allowed", line, "write the value out")
        if name == "DocumentStartEvent" and self._result is not None:
            raise InvalidValueError("there is a second document", line, "keep one")
        if name in ("MappingStartEvent", "SequenceStartEvent"):
            check_depth(len(self._open), line)
            if event.tag:
                raise InvalidValueError("tags are not allowed", line, "write the plain value")
            self._open.append((Node({} if name[0] == "M" else [], line), []))
        elif name in ("MappingEndEvent", "SequenceEndEvent"):
            self._add(self._open.pop()[0])
        elif name == "ScalarEvent":
            self._add(Node(self._scalar(event, line), line))

    def _add(self, node: Node) -> None:
        if not self._open:
            self._result = node
            return
        parent, waiting_key = self._open[-1]
        if parent.is_list:
            parent.value.append(node)
        elif not waiting_key:
            waiting_key.append(node)
        else:
            self._add_member(parent.value, waiting_key.pop(), node)

    def _add_member(self, table: dict[str, Node], key: Node, node: Node) -> None:
        if key.is_table or key.is_list:
            raise InvalidValueError("a key must be text", key.line, "quote it")
        name = str(key.value)
        if name in table:
            raise InvalidValueError(f"the key `{name[:80]}` is given twice", key.line, "keep one of them")
        table[name] = Node(node.value, key.line)

    def _scalar(self, event: Any, line: int) -> Any:
        if event.tag and str(event.tag) not in ("!", f"{_PREFIX}str"):
            raise InvalidValueError("tags are not allowed", line, "write the plain value")
        if event.tag or event.style:
            return str(event.value)
        tag = self._resolver.resolve(self._scalar_node, event.value, event.implicit)
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
