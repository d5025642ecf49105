"""
One row that changed in two places: what only one of them changed is taken from it.

Where both changed the same, this machine's word counts, since it is the later one to reach the server; but lists and
objects keep what either added, and what has ended stays ended.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from snell.store.replication.work_tables import Shared
from snell.work.rows import JSON_COLUMNS, json_of, union

FINAL = ("finished_at", "rehydrated_at", "dehydration_payload")
END = ("ended_at", "end_reason")
COUNTED = ("heartbeat_counter", "last_heartbeat", "context_usage")  # by the machine where the session is, at any time


def merge_rows(here: Shared, there: Shared, base: Mapping[str, Any], *, is_ours: bool) -> Shared:
    """The row after both changes; `base` is how it was before this machine changed it, as far as that is known."""
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
            result[name] = _joined(name, here[name], theirs, base[name])
    return result


def _ended_first(one: Shared, other: Shared) -> bool:
    """Has it ended there, and not sooner here?"""
    return one["ended_at"] is not None and (other["ended_at"] is None or one["ended_at"] < other["ended_at"])


def _joined(name: str, here: Any, there: Any, base: Any) -> Any:
    if name not in JSON_COLUMNS or there == base:
        return here
    ours, theirs, before = (_read(each) for each in (here, there, base))
    if isinstance(ours, list) and isinstance(theirs, list):
        return json_of(union(theirs, ours))
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return json_of(_keys_joined(ours, theirs, before if isinstance(before, dict) else {}))
    return here


def _keys_joined(ours: dict[str, Any], theirs: dict[str, Any], before: dict[str, Any]) -> dict[str, Any]:
    """Key by key: what was added, changed or taken away on either side."""
    result = dict(theirs)
    for name in {*ours, *before}:
        if ours.get(name) == before.get(name):
            continue
        if name in ours:
            result[name] = ours[name]
        else:
            result.pop(name, None)
    return result


def _read(value: Any) -> Any:
    try:
        return msgspec.json.decode(value) if isinstance(value, str) else value
    except (msgspec.DecodeError, RecursionError):
        return value
