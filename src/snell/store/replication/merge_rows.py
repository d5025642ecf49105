"""
Merge a row that changed on this machine and on another one.

A column that only one machine changed takes that machine's value. If both changed it, this machine wins, since its
change reaches the server later; but lists and objects keep the additions of both, and an end stays an end.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from snell.store.replication.work_tables import SharedRow
from snell.work.rows import JSON_COLUMNS, json_of, union

FINAL = ("finished_at", "rehydrated_at", "dehydration_payload")
END = ("ended_at", "end_reason")
COUNTED = ("heartbeat_counter", "last_heartbeat", "context_usage")  # counted by the machine that runs the session


def merge_rows(here: SharedRow, there: SharedRow, base: Mapping[str, Any], *, is_ours: bool) -> SharedRow:
    """Return the row after both changes; `base` has the known values from before this machine changed it."""
    result = {**here, "rev": there["rev"]}
    for name, theirs in there.items():
        if name in ("uid", "rev"):
            continue
        if name in COUNTED:
            result[name] = here[name] if is_ours else theirs
        elif name == "lifecycle":
            result[name] = "finished" if "finished" in (here[name], theirs) else "active"
        elif name in END:
            result[name] = theirs if _ended_first(there, here) else here[name]
        elif name in FINAL or name not in base:
            result[name] = theirs if theirs is not None else here[name]
        elif here[name] == base[name]:
            result[name] = theirs
        else:
            result[name] = _merge_values(name, here[name], theirs, base[name])
    return result


def _ended_first(one: SharedRow, other: SharedRow) -> bool:
    """Whether the first row has ended, and not later than the second."""
    return one["ended_at"] is not None and (other["ended_at"] is None or one["ended_at"] < other["ended_at"])


def _merge_values(name: str, here: Any, there: Any, base: Any) -> Any:
    if name not in JSON_COLUMNS or there == base:
        return here
    ours, theirs, before = (_decode(each) for each in (here, there, base))
    if isinstance(ours, list) and isinstance(theirs, list):
        return json_of(union(theirs, ours))
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return json_of(_merge_keys(ours, theirs, before if isinstance(before, dict) else {}))
    return here


def _merge_keys(ours: dict[str, Any], theirs: dict[str, Any], before: dict[str, Any]) -> dict[str, Any]:
    """Merge two objects key by key: additions, changes and removals of either side."""
    result = dict(theirs)
    for name in {*ours, *before}:
        if ours.get(name) == before.get(name):
            continue
        if name in ours:
            result[name] = ours[name]
        else:
            result.pop(name, None)
    return result


def _decode(value: Any) -> Any:
    try:
        return msgspec.json.decode(value) if isinstance(value, str) else value
    except (msgspec.DecodeError, RecursionError):
        return value
