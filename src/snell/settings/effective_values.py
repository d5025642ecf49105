"""Compute the effective value of each setting from all layers, and its origin."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from snell.model.hooks import Switches
from snell.settings.parse_types import Value
from snell.settings.schema import LIST_KEYS, TABLE_KEYS, TOP_KEYS, Key

# For most settings the first of these layers that has it wins. Lists are joined instead.
PRECEDENCE = ("policy", "local", "project", "user", "profile")
ADDED_POLICY = "policy:added"  # a policy file that the environment names, added to the machine's own
_WEAKEST_FIRST = ("profile", "project", "local", "user", "policy")
# Options about storing texts: `false` in a project wins over the user's settings. No guard is among these.
_FALSE_WINS = {"remember": ("enabled", "capture", "share")}
# A project does not decide where texts are written, nor whether whole events are kept.
_NOT_FROM_A_PROJECT = {"remember": ("inbox",), "recording": ("enabled", "max_megabytes")}
_ONLY_WITH_HOOKS = ("status_line", "file_suggestion")


def effective_values(values: Sequence[Value]) -> tuple[Value, ...]:
    """Return one row per setting: its effective value, and the file and line that set it."""
    keys = [key for key in TOP_KEYS if key.name != "hooks" and not key.ignored]
    found = {key.name: _effective_value(key, [value for value in values if value.name == key.name]) for key in keys}
    found.update({name: _unless_disabled(found, name, values) for name in _ONLY_WITH_HOOKS})
    return tuple(found.values())


def switches(values: Sequence[Value]) -> Switches:
    """Return the switches of the hook registry."""
    effective = {value.name: value for value in effective_values(values)}
    by_policy = _policy_disables_all(values)
    return Switches(
        disable_all_hooks=bool(effective["disable_all_hooks"].value) and not by_policy,
        policy_disables_all=by_policy,
        allow_managed_hooks_only=bool(effective["allow_managed_hooks_only"].value),
        rewrites_from="policy" if effective["rewrites_from"].value == "policy" else "",
        order=str(effective["order"].value),
        only_observe=effective["profile"].value == "observe",
    )


def _effective_value(key: Key, given: Sequence[Value]) -> Value:
    ordered = sorted(given, key=lambda value: PRECEDENCE.index(value.base_layer))
    if not ordered:
        return Value(key.name, key.default)
    if key.name in LIST_KEYS:
        return replace(ordered[0], value=tuple(dict.fromkeys(each for value in given for each in value.value)))
    if key.name in TABLE_KEYS:
        merged = _merge_packs(given)
        return replace(next((value for value in ordered if _has_effect(value, merged)), ordered[0]), value=merged)
    if key.name == "rewrites_from":
        return next((value for value in ordered if value.value == "policy"), ordered[0])
    if key.name == "disable_all_hooks":
        # A `false` in the policy does not overrule a user who disables hooks.
        ordered = [value for value in ordered if value.value or not _is_policy(value)] or ordered
    return ordered[0]


def _merge_packs(given: Sequence[Value]) -> dict[str, Any]:
    """
    Merge the options of packs from all layers.

    The user's file wins over a project's, so that opening a folder cannot disable a guard. The policy wins over both.
    """
    merged: dict[str, Any] = {}
    for value in sorted(given, key=lambda value: _WEAKEST_FIRST.index(value.base_layer)):
        for name, given_options in value.value.items():
            ignored = _NOT_FROM_A_PROJECT.get(name, ()) if value.base_layer in ("project", "local") else ()
            options = {each: given_options[each] for each in given_options if each not in ignored}
            before = merged.get(name, {})
            refused = {each: False for each in _FALSE_WINS.get(name, ()) if before.get(each) is False}
            merged[name] = {**before, **options, **(refused if value.base_layer == "user" else {})}
    return merged


def _has_effect(value: Value, merged: Mapping[str, Any]) -> bool:
    """Whether a layer has an option that is effective, so that it is shown as the origin."""
    return any(
        merged[name].get(option) == given for name, options in value.value.items() for option, given in options.items()
    )


def _unless_disabled(found: dict[str, Value], name: str, values: Sequence[Value]) -> Value:
    """Leave out the status line and file suggestion while hooks are disabled, unless the policy sets them."""
    is_off = found["disable_all_hooks"].value or found["allow_managed_hooks_only"].value
    if _policy_disables_all(values) or (is_off and not _is_policy(found[name])):
        return Value(name, None)
    return found[name]


def _policy_disables_all(values: Sequence[Value]) -> bool:
    # A policy file that the environment adds must not disable the machine's own policy.
    return any(value.name == "disable_all_hooks" and value.value and value.layer == "policy" for value in values)


def _is_policy(value: Value) -> bool:
    return value.layer in ("policy", ADDED_POLICY)
