"""Maintain memories: namespaces, importance, facts in a text, near duplicates, problems."""

import time
from typing import Annotated, Any, Literal

from msgspec import Meta, to_builtins

from snell.memory.types import LONGEST, Draft
from snell.model.errors import SnellError
from snell.operations import results
from snell.operations.declaration import Answer, Call, about
from snell.operations.memory_call import (
    DryRun,
    MemoryIds,
    Namespace,
    NamespaceWord,
    Project,
    Share,
    check_own,
    memories_of,
    memory_operation,
    own_project,
    project_for_new,
    project_of_call,
    valid_namespace,
)

_NO_LIMIT = 2.0


@memory_operation("memory.namespaces", tool=True, verb=True, gives=results.Namespaces)
def namespaces(call: Call, project: Project = "") -> Answer:
    """List the namespaces, with the number of memories in each."""
    from snell.memory import rows

    place = project_of_call(call, project)
    found = memories_of(call).read(lambda tx: rows.namespaces(tx, project=place))
    return {"namespaces": found, "project": place}


@memory_operation("memory.rename_namespace", tool=True, verb=True, permission="writes", gives=results.RenameResult)
def rename_namespace(
    call: Call, old_namespace: NamespaceWord, new_namespace: NamespaceWord, project: Project = ""
) -> Answer:
    """Rename a namespace; if the new name exists, the memories move there."""
    from snell.memory import rows

    place = own_project(call, project, "rename_namespace")
    run = memories_of(call).run
    return {"moved": run(lambda tx: rows.rename_namespace(tx, old_namespace, new_namespace, project=place))}


@memory_operation("memory.delete_namespace", tool=True, verb=True, permission="destroys", gives=results.Counted)
def delete_namespace(
    call: Call, namespace: NamespaceWord, confirm: bool = False, dry_run: DryRun = True, project: Project = ""
) -> Answer:
    """Delete all memories of a namespace with `confirm` true and `dry_run` false; else return how many these are."""
    from snell.memory import rows

    place, is_dry = own_project(call, project, "delete_namespace"), dry_run or not confirm
    run = memories_of(call).run
    return {
        "memories": run(lambda tx: rows.delete_namespace(tx, namespace, project=place, dry_run=is_dry)),
        "dry_run": is_dry,
    }


@memory_operation("memory.decay", tool=True, verb=True, permission="writes", gives=results.Changed)
def decay(
    call: Call,
    function: Literal["exponential", "linear", "step"] = "exponential",
    half_life_days: Annotated[float, Meta(ge=1, le=365)] = 30,
    min_importance: Share = 0.1,
    access_weight: Share = 0.3,
    namespace: Namespace = "",
    dry_run: DryRun = True,
    project: Project = "",
) -> Answer:
    """Reduce the importance of memories that were not used. A dry run by default."""
    from snell.memory.decay import decay

    how: dict[str, Any] = {
        "project": own_project(call, project, "decay"),
        "namespace": valid_namespace(namespace),
        "function": function,
        "half_life_days": half_life_days,
        "min_importance": min_importance,
        "access_weight": access_weight,
        "dry_run": dry_run,
    }
    changes = memories_of(call).run(lambda tx: decay(tx, **how))
    return {"changed": len(changes), "dry_run": dry_run, "changes": to_builtins(changes[:100])}


@memory_operation("memory.reinforce", tool=True, verb=True, permission="writes", gives=results.Changed)
def reinforce(
    call: Call,
    memory_ids: MemoryIds,
    boost_type: Literal["additive", "multiplicative", "set_value"] = "additive",
    boost_amount: Annotated[float, Meta(ge=0, le=10)] = 0.1,
    update_access: bool = True,
) -> Answer:
    """Raise the importance of memories that were useful."""
    from snell.memory.decay import reinforce

    check_own(call, memory_ids)
    how: dict[str, Any] = {"boost_type": boost_type, "boost_amount": boost_amount, "update_access": update_access}
    return {"changes": to_builtins(memories_of(call).run(lambda tx: reinforce(tx, memory_ids, **how)))}


@memory_operation("memory.extract", tool=True, verb=True, permission="writes", gives=results.RememberedBatch)
def extract(
    call: Call,
    text: Annotated[str, about("the text", rest=True, stdin="the text")],
    namespace: Namespace = "extracted",
    min_confidence: Share = 0.5,
    deduplicate: bool = True,
    dedup_threshold: Share = 0.9,
    project: Project = "",
) -> Answer:
    """Find statements worth remembering in a longer text, and store them."""
    from snell.memory.signals import statements
    from snell.memory.validation import redact_draft

    if not text.strip():
        raise SnellError("`text` is empty")
    if len(text) > LONGEST:
        raise SnellError(f"the text has {len(text):,} characters; the limit is {LONGEST:,}", advice="split it")
    memories, place = memories_of(call), project_for_new(call, project)
    found = []
    for each in statements(text, min_confidence):
        draft = Draft(
            content=each.text,
            namespace=valid_namespace(namespace) or "extracted",
            project=place,
            tags=each.types,
            importance=each.importance,
            source="extract",
            agent=call.agent_id[:200],
            signal=each.confidence,
        )
        kept = memories.remember(draft, similar=dedup_threshold if deduplicate else _NO_LIMIT)
        shown = {"content": redact_draft(draft).content, "confidence": each.confidence, "types": list(each.types)}
        found.append({**to_builtins(kept), **shown})
    return {"results": found, "stored": sum(each["status"] == "stored" for each in found)}


@memory_operation("memory.consolidate", tool=True, verb=True, permission="destroys", gives=results.Consolidated)
def consolidate(
    call: Call,
    namespace: NamespaceWord,
    similarity_threshold: Share = 0.85,
    strategy: Literal[
        "keep_newest", "keep_oldest", "keep_highest_importance", "merge_content"
    ] = "keep_highest_importance",
    dry_run: DryRun = True,
    max_groups: Annotated[int, Meta(ge=1, le=1_000)] = 50,
    project: Project = "",
) -> Answer:
    """Merge memories of a namespace that say the same. A dry run by default."""
    from snell.memory.consolidation import consolidate
    from snell.memory.shortlist import shortlist_of

    memories = memories_of(call)
    how: dict[str, Any] = {
        "project": own_project(call, project, "consolidate"),
        "namespace": valid_namespace(namespace),
        "similarity_threshold": similarity_threshold,
        "strategy": strategy,
        "max_groups": max_groups,
    }
    groups = memories.run(lambda tx: consolidate(tx, shortlist_of(memories.database), dry_run=dry_run, **how))
    return {"groups": to_builtins(groups), "dry_run": dry_run}


@memory_operation("memory.health", tool=True, verb=True, gives=results.Healthy)
def health(call: Call, verbose: Annotated[bool, about("also count memories")] = False, project: Project = "") -> Answer:
    """Check whether the memory works."""
    from snell.llm.embeddings.word_table import word_table
    from snell.memory import rows

    memories, place = memories_of(call), project_of_call(call, project)
    problems = [
        *(call.runtime.database.problems if call.runtime.database else ()),
        *filter(None, (memories.problem, word_table().problem)),
    ]
    problems += memories.inbox.backlog(time.time()) if memories.inbox else []
    if memories.inbox and (failed := memories.inbox.count("quarantine")):
        problems.append(f"{failed} captures failed three times and are in {memories.inbox.root / 'quarantine'}")
    waiting = memories.inbox.count() if memories.inbox else 0
    answer: Answer = {"status": "degraded" if problems else "healthy", "problems": problems, "waiting": waiting}
    if verbose:
        found = memories.run(lambda tx: rows.stats(tx, project=place))
        model = memories.embedder.name if memories.embedder else "offline"
        answer["details"] = {"project": place, "vectors": model, **to_builtins(found)}
    return answer
