"""Check one value of a settings file against its key in the schema."""

import math
from collections.abc import Callable
from typing import Any

from snell.model.catalogue import did_you_mean
from snell.settings.schema import Key, Spellings
from snell.settings.value_tree import InvalidValueError, Node, noun, plain

Reader = Callable[[Key, Node, str], Any]


def value_of(key: Key, node: Node, spelled: str) -> Any:
    """Return the checked value. Raises InvalidValueError."""
    return READERS[key.type](key, node, f"`{spelled}`")


def read_keys(table: Node, known: Spellings, what: str, prefix: str = "") -> dict[str, Any]:
    """Return the checked values of a table by the names of its keys. Raises InvalidValueError."""
    found: dict[str, Any] = {}
    for spelled, node in table.value.items():
        key, shown = known.find(spelled), f"{prefix}{spelled[:80]}"
        if key is None:
            raise InvalidValueError(f"`{shown}` is not {what}", node.line, known.nearest(spelled))
        _require(key.name not in found, node, f"`{shown}` is given twice", "keep one of them")
        found[key.name] = value_of(key, node, shown)
    return found


def _require(holds: object, node: Node, message: str, advice: str) -> None:
    if not holds:
        raise InvalidValueError(message, node.line, advice)


def _text(key: Key, node: Node, name: str) -> str:
    value: Any = node.value
    _require(isinstance(value, str), node, f"{name} must be text, not {noun(value)}", "put it in quotes")
    _require("\0" not in value, node, f"{name} holds a NUL character", "remove it")
    _require(value.strip() or not key.is_required, node, f"{name} is empty", f"set it: {key.help.split(';')[0]}")
    text = key.choice_aliases.get(value, value)
    if key.choices and text not in {*key.choices, *key.choice_aliases.values()}:
        advice = f"{did_you_mean(text, key.choices)} use one of {', '.join(key.choices)}".lstrip()
        raise InvalidValueError(f"{name} cannot be `{text[:80]}`", node.line, advice)
    return str(text)


def _flag(_key: Key, node: Node, name: str) -> bool:
    message = f"{name} must be true or false, not {noun(node.value)}"
    _require(isinstance(node.value, bool), node, message, "write true or false, without quotes")
    return bool(node.value)


def _texts(key: Key, node: Node, name: str) -> tuple[str, ...]:
    if key.type == "texts or text" and isinstance(node.value, str):
        return (_text(key, node, name),)
    _require(node.is_list, node, f"{name} must be a list of texts, not {noun(node.value)}", "put it in [ ]")
    return tuple(_text(key, each, name) for each in node.value)


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


def _number(key: Key, node: Node, name: str) -> float:
    """Check a number above 0; an `amount`, which is a price or a sum of money, may be 0."""
    value = node.value
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    _require(is_number, node, f"{name} must be a number, not {noun(value)}", "write a number without quotes")
    is_finite = isinstance(value, int) or math.isfinite(value)
    may_be_0 = is_finite and key.type == "amount"
    wanted = "0 or more" if may_be_0 else "more than 0"
    is_valid = is_finite and (value > 0 or (may_be_0 and value == 0))
    _require(is_valid, node, f"{name} must be {wanted}, not {value}", "leave it out for the default")
    return float(min(value, 10**9))


def _matcher(_key: Key, node: Node, name: str) -> tuple[str, str | None]:
    """Return the pattern and its explicit type, from text or from `{type, pattern}`."""
    if node.value is None:
        return "", None
    if isinstance(node.value, str):
        return node.value, None
    is_table = node.is_table and node.value.keys() <= {"type", "pattern", "match_type", "matchType"}
    _require(is_table, node, f"{name} must be text or a table of `type` and `pattern`", "write it as text")
    fields = {"pattern" if key == "pattern" else "type": each for key, each in node.value.items()}
    for each in fields.values():
        message = f"`type` and `pattern` of {name} must be text"
        _require(isinstance(each.value, str), each, message, "put them in quotes")
    kind = str(fields["type"].value).lower() if "type" in fields else None
    return str(fields["pattern"].value) if "pattern" in fields else "", kind


def _method(key: Key, node: Node, name: str) -> str:
    text = node.value.upper() if isinstance(node.value, str) else node.value
    return _text(key, Node(text, node.line), name)


def _table(_key: Key, node: Node, name: str) -> dict[str, Any]:
    _require(node.is_table, node, f"{name} must be a table, not {noun(node.value)}", "write { key = value }")
    return dict(plain(node))


def _by_name(read: Reader) -> Reader:
    """Return a reader of tables whose values are all of one type."""

    def read_table(key: Key, node: Node, name: str) -> dict[str, Any]:
        _table(key, node, name)
        return {each: read(key, found, f"{name[:-1]}.{each[:80]}`") for each, found in node.value.items()}

    return read_table


def _command_setting(key: Key, node: Node, name: str) -> dict[str, Any]:
    """Return a command setting: text, or Claude Code's table with `command` and options of the display."""
    if isinstance(node.value, str):
        return {"command": _text(key, node, name)}
    table = _table(key, node, name)
    command = table.get("command")
    _require(isinstance(command, str) and command.strip(), node, f"{name} has no `command`", "give the command as text")
    return table


def _count(key: Key, node: Node, name: str) -> int:
    number = _number(key, node, name)
    _require(number == int(number), node, f"{name} must be a whole number, not {node.value}", "round it")
    return int(number)


def _keys(key: Key, node: Node, name: str) -> dict[str, Any]:
    """Check a table with keys of its own."""
    _table(key, node, name)
    found = read_keys(node, Spellings(key.inner), "a setting", f"{name[1:-1]}.")
    if missing := next((row for row in key.inner if row.is_required and row.name not in found), None):
        raise InvalidValueError(f"{name} has no `{missing.name}`", node.line, f"add it: {missing.help}")
    return found


def _http_endpoint(key: Key, node: Node, name: str) -> dict[str, Any]:
    """Check `enabled` and `port`; port 0 means any free port."""
    table = _table(key, node, name)
    for each in table:
        _require(each in ("enabled", "port"), node, f"{name} has no `{each[:80]}`", "use `enabled` and `port`")
    enabled, port = table.get("enabled", True), table.get("port", 0)
    message = f"`enabled` of {name} must be true or false"
    _require(isinstance(enabled, bool), node, message, "write it without quotes")
    is_port = type(port) is int and (port == 0 or 1024 <= port <= 65535)
    _require(is_port, node, f"`port` of {name} cannot be `{str(port)[:80]}`", "use 1024 to 65535")
    return {"enabled": enabled, "port": port}


READERS: dict[str, Reader] = {
    "text": _text,
    "flag": _flag,
    **dict.fromkeys(("texts", "texts or text"), _texts),
    "hosts": _hosts,
    **dict.fromkeys(("seconds", "amount", "milliseconds"), _number),
    "matcher": _matcher,
    "method": _method,
    "table": _table,
    "texts by name": _by_name(_text),
    "seconds by name": _by_name(_number),
    "tables by name": _by_name(_table),
    "command setting": _command_setting,
    "count": _count,
    "keys": _keys,
    "keys by name": _by_name(_keys),
    "http endpoint": _http_endpoint,
    "any": lambda _key, node, _name: plain(node),
}
