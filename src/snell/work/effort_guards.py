"""
Evaluate the guard rules in an effort's metadata: a rule adds a text or refuses a call when its condition holds.

Short form   {ruleId, condition: {field, op, value}, payload}
Long form    {id, trigger: {type, condition}, toolFilter, payload, mode, urgency, priority, inject, whitelist}
"""

from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatchcase
from math import isnan
from operator import eq, ge, gt, le, lt
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {"gte": ge, "gt": gt, "lte": le, "lt": lt, "eq": eq}
PRIMARY_INPUT = ("command", "file_path", "path", "pattern", "url", "skill", "prompt")


class Facts(Struct, frozen=True, kw_only=True):
    """The values that rules can test."""

    heartbeat_counter: int | None = None
    context_usage: float | None = None
    lifecycle: str | None = None  # None: there is no active session
    phase: str = ""
    tool: str = ""
    tool_input: Mapping[str, Any] = {}
    discovered: tuple[str, ...] = ()
    told: tuple[str, ...] = ()  # rules with `inject: once` that were delivered
    overflow_at: float = 0.9


class ActiveRule(Struct, frozen=True, kw_only=True):
    rule_id: str
    payload: Any = None
    text: str = ""
    files: tuple[str, ...] = ()
    mode: str = "inline"
    urgency: str = "allow"
    once: bool = False
    is_overflow: bool = False
    whitelist: tuple[str, ...] = ()


def active_rules(rules: Any, facts: Facts) -> list[ActiveRule]:
    """Return the rules whose condition holds: short ones in order, then long ones by priority."""
    given = [each for each in rules if isinstance(each, Mapping)] if isinstance(rules, list) else []
    short = [_short(rule) for rule in given if "condition" in rule and _holds(rule["condition"], facts)]
    long = sorted((rule for rule in given if "trigger" in rule), key=_priority)
    return [*short, *(_long(rule) for rule in long if _is_triggered(rule, facts))]


def blocking(found: Iterable[ActiveRule], facts: Facts) -> list[ActiveRule]:
    """Return the rules that refuse this call; none if it is on the whitelist of one. Overflow rules come first."""
    blocks = [each for each in found if each.urgency in ("block", "interrupt")]
    if any(is_listed(entry, facts.tool, facts.tool_input) for each in blocks for entry in each.whitelist):
        return []
    return [each for each in blocks if each.is_overflow] or blocks


def is_listed(entry: str, tool: str, given: Mapping[str, Any]) -> bool:
    """Whether `Tool`, or `Tool(glob)` over the main argument, matches a call."""
    name, _, pattern = entry.partition("(")
    if name.strip() != tool:
        return False
    primary = next((given[key] for key in PRIMARY_INPUT if isinstance(given.get(key), str)), "")
    return not pattern or fnmatchcase(primary, pattern.removesuffix(")"))


def _short(rule: Mapping[str, Any]) -> ActiveRule:
    text, files = _contents(rule.get("payload"))
    return ActiveRule(rule_id=_id(rule), payload=rule.get("payload"), text=text, files=files)


def _long(rule: Mapping[str, Any]) -> ActiveRule:
    found, urgency = _short(rule), rule.get("urgency")
    blocks = urgency in ("block", "interrupt")
    return replace(
        found,
        text=found.text or str(rule.get("description") or ""),
        mode=str(rule.get("mode") or "inline"),
        urgency=urgency if blocks else "allow",
        once=rule.get("inject") == "once",
        is_overflow=blocks and rule["trigger"].get("type") == "contextThreshold",
        whitelist=tuple(each for each in _as_list(rule.get("whitelist")) if isinstance(each, str)),
    )


def _id(rule: Mapping[str, Any]) -> str:
    return str(rule.get("id") or rule.get("ruleId") or "")


def _holds(condition: Any, facts: Facts) -> bool:
    if not isinstance(condition, Mapping):
        return False
    field = condition.get("field")
    known = getattr(facts, field) if field in ("heartbeat_counter", "context_usage") else None
    return _compare(known, condition.get("op"), condition.get("value"))


def _compare(known: Any, op: Any, wanted: Any) -> bool:
    """Compare two numbers; False for an unknown operator or a value that is not a number."""
    numbers = all(isinstance(each, int | float) and not isinstance(each, bool) for each in (known, wanted))
    return numbers and isinstance(op, str) and op in OPERATORS and OPERATORS[op](known, wanted)


def _is_triggered(rule: Mapping[str, Any], facts: Facts) -> bool:
    trigger = rule["trigger"]
    holds = _TRIGGERS.get(str(trigger.get("type"))) if isinstance(trigger, Mapping) else None
    if holds is None:
        return False
    if rule.get("inject") == "once" and _id(rule) in facts.told:
        return False
    given = trigger.get("condition")
    condition = given if isinstance(given, Mapping) else {"value": given}
    return _passes(rule.get("toolFilter"), facts.tool) and holds(condition, facts)


def _matches_threshold(condition: Mapping[str, Any], facts: Facts) -> bool:
    wanted = _first(condition, "gte", "threshold", "value")
    wanted = facts.overflow_at if isinstance(wanted, str) else wanted  # the name of the configured threshold
    return _compare(facts.context_usage, "gte", wanted)


def _matches_lifecycle(condition: Mapping[str, Any], facts: Facts) -> bool:
    if condition.get("noActiveSession"):
        return facts.lifecycle is None
    wanted = _first(condition, "eq", "equals", "value")
    return wanted is not None and facts.lifecycle == wanted


def _matches_phase(condition: Mapping[str, Any], facts: Facts) -> bool:
    wanted = _first(condition, "contains", "phase", "value")
    return isinstance(wanted, str) and bool(wanted) and wanted.lower() in facts.phase.lower()


def _matches_count(condition: Mapping[str, Any], facts: Facts) -> bool:
    if "eq" in condition:
        return _compare(facts.heartbeat_counter, "eq", condition["eq"])
    return _compare(facts.heartbeat_counter, "gte", _first(condition, "gte", "value"))


_TRIGGERS: Mapping[str, Callable[[Mapping[str, Any], Facts], bool]] = {
    "contextThreshold": _matches_threshold,
    "lifecycle": _matches_lifecycle,
    "phase": _matches_phase,
    "toolCount": _matches_count,
    "perTranscriptToolCount": _matches_count,
    "discovery": lambda _condition, facts: bool(facts.discovered),
}


def _passes(tool_filter: Any, tool: str) -> bool:
    if not isinstance(tool_filter, Mapping):
        return True
    include, exclude = _as_list(tool_filter.get("include")), _as_list(tool_filter.get("exclude"))
    return not (include and tool not in include) and not (exclude and tool in exclude)


def _contents(payload: Any) -> tuple[str, tuple[str, ...]]:
    if isinstance(payload, str):
        return payload, ()
    if not isinstance(payload, Mapping):
        return "", ()
    text = str(payload.get("text") or payload.get("message") or "")
    if not text and isinstance(payload.get("command"), str):
        text = f"Run `{payload['command']}`."
    files = [*_as_list(payload.get("files")), *_as_list(payload.get("preload"))]
    return text, tuple(each for each in files if isinstance(each, str))


def _as_list(value: Any) -> list[Any]:
    """Return a list: of one text, or empty for any other value. Users write the rules by hand."""
    return value if isinstance(value, list) else [value] if isinstance(value, str) else []


def _priority(rule: Mapping[str, Any]) -> float:
    value = rule.get("priority")
    return value if isinstance(value, int | float) and not isnan(value) else 100.0


def _first(condition: Mapping[str, Any], *names: str) -> Any:
    return next((condition[name] for name in names if condition.get(name) is not None), None)
