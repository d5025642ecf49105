"""Check one value of a settings file against its key in the schema."""

import math
from collections.abc import Callable
from typing import Any

from snell.settings.problems import InvalidValueError
from snell.settings.schema import Key, Spellings
from snell.settings.value_tree import Node, noun, plain


def value_of(key: Key, node: Node, spelled: str) -> Any:
    """Return the checked value. Raises InvalidValueError."""
    return READERS[key.type](key, node, f"`{spelled}`")


def _text(key: Key, node: Node, name: str) -> str:
    if not isinstance(node.value, str):
        raise InvalidValueError(f"{name} must be text, not {noun(node.value)}", node.line, "put it in quotes")
    if "\0" in node.value:
        raise InvalidValueError(f"{name} holds a NUL character", node.line, "remove it")
    if key.is_required and not node.value.strip():
        raise InvalidValueError(f"{name} is empty", node.line, f"set it: {key.help.split(';')[0]}")
    return _check_choice(key, node.value, node.line, name)


def _check_choice(key: Key, text: str, line: int, name: str) -> str:
    text = key.choice_aliases.get(text, text)
    if not key.choices or text in key.choices:
        return text
    from difflib import get_close_matches  # slow to import, and only needed for mistakes

    near = get_close_matches(text[:60], key.choices, n=1)
    hint = f"did you mean `{near[0]}`? " if near else ""
    raise InvalidValueError(f"{name} cannot be `{text[:80]}`", line, f"{hint}use one of {', '.join(key.choices)}")


def _flag(_key: Key, node: Node, name: str) -> bool:
    if not isinstance(node.value, bool):
        raise InvalidValueError(
            f"{name} must be true or false, not {noun(node.value)}", node.line, "write true or false, without quotes"
        )
    return node.value


def _texts(key: Key, node: Node, name: str) -> tuple[str, ...]:
    if not isinstance(node.value, list):
        raise InvalidValueError(f"{name} must be a list of texts, not {noun(node.value)}", node.line, "put it in [ ]")
    return tuple(_text(key, each, name) for each in node.value)


def _texts_or_text(key: Key, node: Node, name: str) -> tuple[str, ...]:
    return _texts(key, Node([node], node.line) if isinstance(node.value, str) else node, name)


def _hosts(key: Key, node: Node, name: str) -> tuple[str, ...]:
    """Check names, addresses and networks: a misspelled one could allow the wrong hosts."""
    from snell.system.address_policy import allowed_entry  # slow to import

    texts = _texts(key, node, name)
    for text, each in zip(texts, node.value, strict=True):
        try:
            allowed_entry(text)
        except ValueError as error:
            advice = "write `build.internal`, `build.internal:8080`, `10.0.0.7` or `10.0.0.0/8`"
            raise InvalidValueError(f"{name} cannot hold `{text[:80]}`: {error}", each.line, advice) from None
    return texts


def _number(_key: Key, node: Node, name: str) -> float:
    value = _finite(node, name)
    if value <= 0:
        raise InvalidValueError(
            f"{name} must be more than 0, not {node.value}", node.line, "leave it out for the default"
        )
    return value


def _amount(_key: Key, node: Node, name: str) -> float:
    """Check a number that may be 0: a price or a sum of money."""
    value = _finite(node, name)
    if value < 0:
        raise InvalidValueError(
            f"{name} must be 0 or more, not {node.value}", node.line, "leave it out for the default"
        )
    return value


def _finite(node: Node, name: str) -> float:
    value = node.value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidValueError(
            f"{name} must be a number, not {noun(value)}", node.line, "write a number without quotes"
        )
    if math.isnan(value) or math.isinf(value):
        raise InvalidValueError(f"{name} must be more than 0, not {value}", node.line, "leave it out for the default")
    return float(min(value, 10**9))


def _matcher(_key: Key, node: Node, name: str) -> tuple[str, str | None]:
    """Return the pattern and its explicit type, from text or from `{type, pattern}`."""
    if node.value is None:
        return "", None
    if isinstance(node.value, str):
        return node.value, None
    if not isinstance(node.value, dict) or not node.value.keys() <= {"type", "pattern", "match_type", "matchType"}:
        raise InvalidValueError(
            f"{name} must be text or a table of `type` and `pattern`", node.line, "write it as text"
        )
    fields = {"pattern" if key == "pattern" else "type": each for key, each in node.value.items()}
    if wrong := next((each for each in fields.values() if not isinstance(each.value, str)), None):
        raise InvalidValueError(f"`type` and `pattern` of {name} must be text", wrong.line, "put them in quotes")
    kind = str(fields["type"].value).lower() if "type" in fields else None
    return str(fields["pattern"].value) if "pattern" in fields else "", kind


def _method(key: Key, node: Node, name: str) -> str:
    text = node.value.upper() if isinstance(node.value, str) else node.value
    return _text(key, Node(text, node.line), name)


def _table(_key: Key, node: Node, name: str) -> dict[str, Any]:
    if not node.is_table:
        raise InvalidValueError(f"{name} must be a table, not {noun(node.value)}", node.line, "write { key = value }")
    return dict(plain(node))


def _texts_by_name(key: Key, node: Node, name: str) -> dict[str, str]:
    _table(key, node, name)
    return {each: _text(key, found, f"{name[:-1]}.{each[:80]}`") for each, found in node.value.items()}


def _tables_by_name(key: Key, node: Node, name: str) -> dict[str, Any]:
    _table(key, node, name)
    return {each: _table(key, found, f"{name[:-1]}.{each[:80]}`") for each, found in node.value.items()}


def _command_setting(key: Key, node: Node, name: str) -> dict[str, Any]:
    """Return a command setting: text, or Claude Code's table with `command` and options of the display."""
    if isinstance(node.value, str):
        return {"command": _text(key, node, name)}
    table = _table(key, node, name)
    if not isinstance(table.get("command"), str) or not table["command"].strip():
        raise InvalidValueError(f"{name} has no `command`", node.line, "give the command as text")
    return table


def _count(key: Key, node: Node, name: str) -> int:
    number = _number(key, node, name)
    if number != int(number):
        raise InvalidValueError(f"{name} must be a whole number, not {node.value}", node.line, "round it")
    return int(number)


def _keys(key: Key, node: Node, name: str) -> dict[str, Any]:
    """Check a table with keys of its own."""
    _table(key, node, name)
    known = Spellings(key.inner)
    found: dict[str, Any] = {}
    for spelled, each in node.value.items():
        row = known.find(spelled)
        full = f"{name[1:-1]}.{spelled[:80]}"
        if row is None:
            raise InvalidValueError(f"`{full}` is not a setting", each.line, known.nearest(spelled))
        if row.name in found:
            raise InvalidValueError(f"`{full}` is given twice", each.line, "keep one of them")
        found[row.name] = value_of(row, each, full)
    if missing := next((row for row in key.inner if row.is_required and row.name not in found), None):
        raise InvalidValueError(f"{name} has no `{missing.name}`", node.line, f"add it: {missing.help}")
    return found


def _keys_by_name(key: Key, node: Node, name: str) -> dict[str, dict[str, Any]]:
    _table(key, node, name)
    return {each: _keys(key, inner, f"{name[:-1]}.{each[:80]}`") for each, inner in node.value.items()}


def _http_endpoint(key: Key, node: Node, name: str) -> dict[str, Any]:
    """Check `enabled` and `port`; port 0 means any free port."""
    table = _table(key, node, name)
    if wrong := next((each for each in table if each not in ("enabled", "port")), None):
        raise InvalidValueError(f"{name} has no `{wrong[:80]}`", node.line, "use `enabled` and `port`")
    enabled, port = table.get("enabled", True), table.get("port", 0)
    if not isinstance(enabled, bool):
        raise InvalidValueError(f"`enabled` of {name} must be true or false", node.line, "write it without quotes")
    if isinstance(port, bool) or not isinstance(port, int) or not (port == 0 or 1024 <= port <= 65535):
        raise InvalidValueError(f"`port` of {name} cannot be `{str(port)[:80]}`", node.line, "use 1024 to 65535")
    return {"enabled": enabled, "port": port}


def _any(_key: Key, node: Node, _name: str) -> Any:
    return plain(node)


READERS: dict[str, Callable[[Key, Node, str], Any]] = {
    "text": _text,
    "flag": _flag,
    "texts": _texts,
    "hosts": _hosts,
    "texts or text": _texts_or_text,
    "seconds": _number,
    "amount": _amount,
    "milliseconds": _number,
    "matcher": _matcher,
    "method": _method,
    "table": _table,
    "texts by name": _texts_by_name,
    "tables by name": _tables_by_name,
    "command setting": _command_setting,
    "count": _count,
    "keys": _keys,
    "keys by name": _keys_by_name,
    "http endpoint": _http_endpoint,
    "any": _any,
}
