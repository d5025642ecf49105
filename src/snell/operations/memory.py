"""
Operations on memories, for `snell memory` and the MCP server.

Without `project` an operation uses the project of the caller's folder; `*` means all projects. The docstrings list
arguments -> results.
"""

import os
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import msgspec
from msgspec import to_builtins

from snell.memory import decay as memory_decay
from snell.memory import export_files, rows
from snell.memory import forget as memory_forgetting
from snell.memory.project_identity import project_of
from snell.memory.recall import ALPHA, Question
from snell.memory.service import Memories, memories_of
from snell.memory.transcript_position import overlong_lines
from snell.memory.types import Draft, Found, Kept, NotRememberedError
from snell.memory.validation import check_namespace
from snell.operations import Call, run_in_thread
from snell.runtime.app import Runtime

Arguments = Mapping[str, Any]
Env = Mapping[str, str]
T = TypeVar("T")


def remember(runtime: Runtime, arguments: Arguments, env: Env) -> dict[str, Any]:
    """content, namespace, tags, importance, metadata, idempotency_key, project, agent, source -> status, id, ..."""
    kept = memories_of(runtime).remember(_draft(arguments, env))
    return _kept_data(kept, memories_of(runtime))


def remember_batch(runtime: Runtime, arguments: Arguments, env: Env) -> dict[str, Any]:
    """memories: a list of arguments of `remember`; each is stored or rejected by itself."""
    memories = memories_of(runtime)
    results = []
    for number, each in enumerate(_argument(arguments, "memories", list[dict[str, Any]])):
        try:
            results.append(_kept_data(memories.remember(_draft({**arguments, **each}, env)), memories))
        except NotRememberedError as error:
            results.append({"status": "error", "error": f"memory {number}: {error}"})
    return {"results": results, "stored": sum(each["status"] == "stored" for each in results)}


def recall(runtime: Runtime, arguments: Arguments, env: Env) -> dict[str, Any]:
    """query, limit, namespace, min_similarity, alpha, project -> memories, best first; a remark if there are none."""
    memories = memories_of(runtime)
    question = Question(
        text=_argument(arguments, "query", str),
        project=project(arguments, env),
        namespace=_namespace(arguments),
        limit=_argument(arguments, "limit", int, 5),
        min_similarity=_argument(arguments, "min_similarity", float, 0.0),
        alpha=_argument(arguments, "alpha", float, ALPHA),
    )
    found = memories.recall(question)
    answer: dict[str, Any] = {"memories": [_with_similarity(each) for each in found], "project": question.project}
    if not found:
        answer["remark"] = _NOTHING if question.project == "*" else f"{_NOTHING} here; project `*` searches all"
    return _with_notices(answer, memories)


_NOTHING = "no memory found"


def nearby(runtime: Runtime, arguments: Arguments, env: Env) -> dict[str, Any]:
    """memory_id, limit, project (default: the memory's own), within -> similar memories."""
    limit, named = _argument(arguments, "limit", int, 5), _argument(arguments, "project", str, "")
    memory_id = _argument(arguments, "memory_id", str)
    _check_within(runtime, arguments, [memory_id], advice="name that `project`, or `*` for all")
    found = memories_of(runtime).nearby(memory_id, limit, named)
    return {"memories": [_with_similarity(each) for each in found]}


def get(runtime: Runtime, arguments: Arguments, env: Env) -> dict[str, Any]:
    memory_id = _argument(arguments, "memory_id", str)
    return dict(to_builtins(_read(runtime, lambda tx: rows.get(tx, memory_id))))


def list_memories(runtime: Runtime, arguments: Arguments, env: Env) -> dict[str, Any]:
    """limit, namespace, project, before -> memories, the newest first."""
    limit, before = _argument(arguments, "limit", int, 50), _argument(arguments, "before", int, 0)
    place = {"project": project(arguments, env), "namespace": _namespace(arguments)}
    if not 1 <= limit <= 1000:
        raise NotRememberedError(f"`limit` must be from 1 to 1000, not {limit}")
    memories_of(runtime).drain()
    found = _read(runtime, lambda tx: rows.list_memories(tx, **place, limit=limit, before=before))
    return {"memories": to_builtins(found), "project": place["project"]}


def forget(runtime: Runtime, arguments: Arguments, env: Env) -> dict[str, Any]:
    """memory_id, within -> forgotten, captures, not_searched. An unknown id is an error."""
    memory_id = _argument(arguments, "memory_id", str)
    _read(runtime, lambda tx: rows.get(tx, memory_id))
    _check_within(runtime, arguments, [memory_id])
    return dict(to_builtins(memory_forgetting.forget(memories_of(runtime), [memory_id])))


def forget_batch(runtime: Runtime, arguments: Arguments, env: Env) -> dict[str, Any]:
    """memory_ids, within -> forgotten, missing, captures, not_searched."""
    wanted = _argument(arguments, "memory_ids", list[str])
    if not wanted:
        raise NotRememberedError("no id was given", advice="`snell memory list` shows them")
    _check_within(runtime, arguments, wanted)
    gone = memory_forgetting.forget(memories_of(runtime), wanted)
    missing = [each for each in dict.fromkeys(wanted) if each not in gone.forgotten]
    return {**to_builtins(gone), "missing": missing}


def namespaces(runtime: Runtime, arguments: Arguments, env: Env) -> dict[str, Any]:
    place = project(arguments, env)
    return {"namespaces": _read(runtime, lambda tx: rows.namespaces(tx, project=place)), "project": place}


def rename_namespace(runtime: Runtime, arguments: Arguments, env: Env) -> dict[str, Any]:
    old, new = _argument(arguments, "old_namespace", str), _argument(arguments, "new_namespace", str)
    place = project(arguments, env)
    return {"moved": _run(runtime, lambda tx: rows.rename_namespace(tx, old, new, project=place))}


def delete_namespace(runtime: Runtime, arguments: Arguments, env: Env) -> dict[str, Any]:
    """namespace, confirm, dry_run -> how many memories were deleted, or would be."""
    name, place = _argument(arguments, "namespace", str), project(arguments, env)
    is_dry = _argument(arguments, "dry_run", bool, True) or not _argument(arguments, "confirm", bool, False)
    count = _run(runtime, lambda tx: rows.delete_namespace(tx, name, project=place, dry_run=is_dry))
    return {"memories": count, "dry_run": is_dry}


def decay(runtime: Runtime, arguments: Arguments, env: Env) -> dict[str, Any]:
    """function, half_life_days, min_importance, access_weight, dry_run, namespace -> what changes."""
    how: dict[str, Any] = {
        "project": project(arguments, env),
        "namespace": _namespace(arguments),
        "function": _argument(arguments, "function", str, "exponential"),
        "half_life_days": _argument(arguments, "half_life_days", float, 30.0),
        "min_importance": _argument(arguments, "min_importance", float, 0.1),
        "access_weight": _argument(arguments, "access_weight", float, 0.3),
        "dry_run": _argument(arguments, "dry_run", bool, True),
    }
    changes = _run(runtime, lambda tx: memory_decay.decay(tx, **how))
    return {"changed": len(changes), "dry_run": how["dry_run"], "changes": to_builtins(changes[:100])}


def reinforce(runtime: Runtime, arguments: Arguments, env: Env) -> dict[str, Any]:
    """memory_ids, boost_type, boost_amount, update_access, within -> what changed."""
    ids = _argument(arguments, "memory_ids", list[str])
    _check_within(runtime, arguments, ids)
    how: dict[str, Any] = {
        "boost_type": _argument(arguments, "boost_type", str, "additive"),
        "boost_amount": _argument(arguments, "boost_amount", float, 0.1),
        "update_access": _argument(arguments, "update_access", bool, True),
    }
    return {"changes": to_builtins(_run(runtime, lambda tx: memory_decay.reinforce(tx, ids, **how)))}


def stats(runtime: Runtime, arguments: Arguments, env: Env) -> dict[str, Any]:
    """project -> how many memories there are, and what is still to be read and processed."""
    from snell.memory.transcript_capture import bytes_unread

    memories, place = memories_of(runtime), project(arguments, env)
    found = to_builtins(_read(runtime, lambda tx: rows.stats(tx, project=place)))
    inbox = memories.inbox
    waiting, failed = (inbox.count(), inbox.count("quarantine")) if inbox else (0, 0)
    left_out, unread = (overlong_lines(inbox.root / "state"), bytes_unread(inbox.root.parent)) if inbox else (0, 0)
    backlog = {"waiting": waiting, "quarantined": failed, "overlong_lines": left_out, "unread_bytes": unread}
    return {**found, "project": place, **backlog, "problem": memories.problem}


def drain(runtime: Runtime, arguments: Arguments, env: Env) -> dict[str, Any]:
    """files, seconds -> the results of the captures that were processed."""
    memories = memories_of(runtime)
    drained = memories.drain(_argument(arguments, "files", int, 10_000), _argument(arguments, "seconds", float, 3.0))
    return {"statuses": dict(drained.statuses), "problems": drained.problems[:20], "left": drained.left}


def export(runtime: Runtime, arguments: Arguments, env: Env) -> dict[str, Any]:
    """output_path, format, namespace, project -> path, memories."""
    where = {"project": project(arguments, env), "namespace": _namespace(arguments)}
    path, form = _path(arguments, env, "output_path"), _argument(arguments, "format", str, "")
    return export_files.export_memories(memories_of(runtime), path, **where, form=form)


def import_(runtime: Runtime, arguments: Arguments, env: Env) -> dict[str, Any]:
    """source_path, format, dry_run, dedup_threshold, project (absent: each memory's own) -> statuses."""
    return export_files.import_memories(
        memories_of(runtime),
        _path(arguments, env, "source_path"),
        project=_argument(arguments, "project", str, "*") or "*",
        form=_argument(arguments, "format", str, ""),
        is_dry=_argument(arguments, "dry_run", bool, True),
        similar=_argument(arguments, "dedup_threshold", float, 0.95),
    )


def project(arguments: Arguments, env: Env) -> str:
    """Return the project of a call. Raises NotRememberedError."""
    named = arguments.get("project")
    if named is None or named == "":
        return project_of(env.get("CWD", ""))
    if not isinstance(named, str) or len(named) > 1024:
        raise NotRememberedError("`project` is not the name of a project")
    return named


def _draft(arguments: Arguments, env: Env) -> Draft:
    place = project(arguments, env)
    if place == "*":
        raise NotRememberedError("`*` is not a project for a new memory", advice="name one, or leave out `project`")
    return Draft(
        content=_argument(arguments, "content", str),
        namespace=_namespace(arguments) or "default",
        project=place,
        tags=tuple(_argument(arguments, "tags", list[str], [])),
        importance=_argument(arguments, "importance", float, 0.5),
        metadata=_argument(arguments, "metadata", dict[str, Any], {}),
        source=_argument(arguments, "source", str, "remember"),
        agent=_argument(arguments, "agent", str, ""),
        idempotency_key=_argument(arguments, "idempotency_key", str, ""),
    )


def _check_within(
    runtime: Runtime,
    arguments: Arguments,
    memory_ids: list[str],
    advice: str = "a person can change it, with `snell memory`",
) -> None:
    """Raise NotRememberedError if a memory does not belong to the project `within`."""
    if (within := arguments.get("within")) is None:
        return
    found = _read(runtime, lambda tx: rows.get_many(tx, memory_ids)).values()
    if foreign := next((memory for memory in found if memory.project != within), None):
        raise NotRememberedError(f"memory `{foreign.id}` belongs to another project", advice=advice)


def _path(arguments: Arguments, env: Env, name: str) -> str:
    return os.path.join(env.get("CWD", ""), os.path.expanduser(_argument(arguments, name, str)))


def _namespace(arguments: Arguments) -> str:
    name = _argument(arguments, "namespace", str, "")
    return check_namespace(name) if name else ""


_MISSING: Any = object()


def _argument(arguments: Arguments, name: str, type_: Any, default: Any = _MISSING) -> Any:
    """Return an argument, checked against a type; null is the same as leaving it out."""
    value = arguments.get(name)
    if value is None:
        if default is _MISSING:
            raise NotRememberedError(f"`{name}` is missing")
        return default
    try:
        return msgspec.convert(value, type_)
    except msgspec.ValidationError as error:
        raise NotRememberedError(f"`{name}` is not valid: {error}") from None


def _run(runtime: Runtime, work: Callable[[Any], T]) -> T:
    return memories_of(runtime).run(work)


def _read(runtime: Runtime, work: Callable[[Any], T]) -> T:
    return memories_of(runtime).read(work)


def _with_similarity(found: Found) -> dict[str, Any]:
    return {**to_builtins(found.memory), "similarity": found.similarity, "by": found.by}


def _kept_data(kept: Kept, memories: Memories) -> dict[str, Any]:
    return _with_notices(dict(to_builtins(kept)), memories)


def _with_notices(answer: dict[str, Any], memories: Memories) -> dict[str, Any]:
    """Add notices about captures since the last answer."""
    if not memories.notices:
        return answer
    notices = [memories.notices.popleft() for _ in range(len(memories.notices))]
    return {**answer, "notices": notices}


def _after_adopting_project(call: Call) -> Call:
    """Make the memories of a project that was moved follow it before the call."""

    def answer(runtime: Runtime, arguments: Arguments, env: Env) -> Any:
        memories_of(runtime).follow_rename(env.get("CWD", ""))
        return call(runtime, arguments, env)

    return answer


_CALLS: Mapping[str, Call] = {
    "memory.remember": remember,
    "memory.remember_batch": remember_batch,
    "memory.recall": recall,
    "memory.nearby": nearby,
    "memory.get": get,
    "memory.list": list_memories,
    "memory.forget": forget,
    "memory.forget_batch": forget_batch,
    "memory.namespaces": namespaces,
    "memory.rename_namespace": rename_namespace,
    "memory.delete_namespace": delete_namespace,
    "memory.decay": decay,
    "memory.reinforce": reinforce,
    "memory.stats": stats,
    "memory.drain": drain,
    "memory.export": export,
    "memory.import": import_,
}

COMMANDS = {name: run_in_thread(_after_adopting_project(call)) for name, call in _CALLS.items()}
