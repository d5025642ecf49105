"""Which value of each setting holds, and who set it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from snell.model.hooks import Switches
from snell.settings.parse_types import Value
from snell.settings.schema import LIST_KEYS, TABLE_KEYS, TOP_KEYS, Key

# For most settings the first of these that has it wins. Lists add up instead.
PRECEDENCE = ("policy", "local", "project", "user")
ADDED_POLICY = "policy:added"  # named by the environment, beside the machine's own
_WEAKEST_FIRST = ("project", "local", "user", "policy")
# What is kept of people's texts: here a project's no holds, whatever the user says. No guard is among these.
_ANYBODYS_NO = {"remember": ("enabled", "capture", "share")}
_NARROWED = ("status_line", "file_suggestion")


def effective(values: Sequence[Value]) -> tuple[Value, ...]:
    """One row per setting: what holds, and the file and line that it comes from."""
    keys = [key for key in TOP_KEYS if key.name != "hooks" and not key.ignored]
    found = {key.name: _holding(key, [value for value in values if value.name == key.name]) for key in keys}
    found.update({name: _narrowed(found, name, values) for name in _NARROWED})
    return tuple(found.values())


def switches(values: Sequence[Value]) -> Switches:
    """The switches for the book."""
    holding = {value.name: value for value in effective(values)}
    by_policy = _policy_disables_all(values)
    return Switches(
        disable_all_hooks=bool(holding["disable_all_hooks"].value) and not by_policy,
        policy_disables_all=by_policy,
        allow_managed_hooks_only=bool(holding["allow_managed_hooks_only"].value),
        rewrites_from="policy" if holding["rewrites_from"].value == "policy" else "",
    )


def _holding(key: Key, given: Sequence[Value]) -> Value:
    ordered = sorted(given, key=lambda value: _rank(value.layer))
    if not ordered:
        return Value(key.name, key.default)
    if key.name in LIST_KEYS:
        return replace(ordered[0], value=tuple(dict.fromkeys(each for value in given for each in value.value)))
    if key.name in TABLE_KEYS:
        return replace(next(filter(_is_heard(given), ordered), ordered[0]), value=_merged(given))
    if key.name == "rewrites_from":
        return next((value for value in ordered if value.value == "policy"), ordered[0])
    if key.name == "disable_all_hooks":
        # A `false` of the policy is no reason to overrule somebody who wants quiet.
        ordered = [value for value in ordered if value.value or not _is_policy(value)] or ordered
    return ordered[0]


def _merged(given: Sequence[Value]) -> dict[str, Any]:
    """
    What all layers say about each pack. A person's own file wins over what a project brings: nobody loses a guard by
    opening a folder. The policy wins over both.
    """
    merged: dict[str, Any] = {}
    for value in sorted(given, key=_strength):
        for name, options in value.value.items():
            before = merged.get(name, {})
            merged[name] = {**before, **options, **(_noes(name, before) if _is_users(value) else {})}
    return merged


def _is_heard(given: Sequence[Value]) -> Callable[[Value], bool]:
    """Whether a layer says something about packs that holds in the end, so that it is named as where it comes from."""
    merged = _merged(given)
    return lambda value: any(
        merged[name].get(option) == said for name, options in value.value.items() for option, said in options.items()
    )


def _noes(pack: str, said: Mapping[str, Any]) -> dict[str, bool]:
    return {option: False for option in _ANYBODYS_NO.get(pack, ()) if said.get(option) is False}


def _is_users(value: Value) -> bool:
    return value.layer.partition(":")[0] == "user"


def _strength(value: Value) -> int:
    return _WEAKEST_FIRST.index(value.layer.partition(":")[0])


def _narrowed(found: dict[str, Value], name: str, values: Sequence[Value]) -> Value:
    """With hooks turned off, only the policy's own status line and file suggestion remain."""
    is_off = found["disable_all_hooks"].value or found["allow_managed_hooks_only"].value
    if _policy_disables_all(values) or (is_off and not _is_policy(found[name])):
        return Value(name, None)
    return found[name]


def _policy_disables_all(values: Sequence[Value]) -> bool:
    # A policy that the environment adds is not asked: it must not take the machine's own policy away.
    return any(value.name == "disable_all_hooks" and value.value and value.layer == "policy" for value in values)


def _is_policy(value: Value) -> bool:
    return value.layer in ("policy", ADDED_POLICY)


def _rank(layer: str) -> int:
    return PRECEDENCE.index(layer.partition(":")[0])
