"""Maintain memories: extract them from a text, merge near duplicates, report problems."""

from collections.abc import Mapping
from typing import Any

from msgspec import to_builtins

from snell.llm.embeddings.word_table import word_table
from snell.memory import rows
from snell.memory.consolidation import consolidate as consolidated
from snell.memory.service import memories_of
from snell.memory.shortlist import shortlist_of
from snell.memory.statements import statements
from snell.memory.types import LONGEST, Draft
from snell.memory.validation import check_namespace, redact_draft
from snell.model.errors import SnellError
from snell.operations import run_in_thread
from snell.operations.memory import project
from snell.runtime.app import Runtime

Arguments = Mapping[str, Any]
Env = Mapping[str, str]
_NO_LIMIT = 2.0


def extract(runtime: Runtime, arguments: Arguments, env: Env) -> dict[str, Any]:
    """text, namespace, min_confidence, deduplicate, dedup_threshold -> the statements found, and if each was stored."""
    text, memories = str(arguments.get("text") or ""), memories_of(runtime)
    if not text.strip():
        raise SnellError("`text` is empty")
    if len(text) > LONGEST:
        raise SnellError(f"the text has {len(text):,} characters; the limit is {LONGEST:,}", advice="split it")
    place, namespace = _one_project(arguments, env), check_namespace(arguments.get("namespace", "extracted"))
    similar = arguments.get("dedup_threshold", 0.9) if arguments.get("deduplicate", True) else _NO_LIMIT
    results = []
    for each in statements(text, arguments.get("min_confidence", 0.5)):
        draft = Draft(
            content=each.text,
            namespace=namespace,
            project=place,
            tags=each.types,
            importance=each.importance,
            source="extract",
            agent=str(arguments.get("agent", ""))[:200],
            signal=each.confidence,
        )
        kept = memories.remember(draft, similar=similar)
        shown = {
            "content": redact_draft(draft).content,
            "confidence": each.confidence,
            "types": list(each.types),
        }
        results.append({**to_builtins(kept), **shown})
    return {"results": results, "stored": sum(each["status"] == "stored" for each in results)}


def consolidate(runtime: Runtime, arguments: Arguments, env: Env) -> dict[str, Any]:
    """namespace, similarity_threshold, strategy, dry_run, max_groups -> the groups that were merged, or would be."""
    memories, is_dry = memories_of(runtime), arguments.get("dry_run", True)
    how = {
        "project": project(arguments, env),
        "namespace": check_namespace(arguments["namespace"]),
        "similarity_threshold": arguments.get("similarity_threshold", 0.85),
        "strategy": arguments.get("strategy", "keep_highest_importance"),
        "max_groups": arguments.get("max_groups", 50),
    }
    groups = memories.run(lambda tx: consolidated(tx, shortlist_of(memories.database), dry_run=is_dry, **how))
    return {"groups": to_builtins(groups), "dry_run": is_dry}


def health(runtime: Runtime, arguments: Arguments, env: Env) -> dict[str, Any]:
    """verbose -> status, problems, the number of waiting captures, details."""
    memories, place = memories_of(runtime), project(arguments, env)
    problems = [
        *(runtime.database.problems if runtime.database else ()),
        *filter(None, (memories.problem, word_table().problem)),
    ]
    if memories.inbox and (failed := memories.inbox.count("quarantine")):
        problems.append(f"{failed} captures failed three times and are in {memories.inbox.root / 'quarantine'}")
    waiting = memories.inbox.count() if memories.inbox else 0
    status = "degraded" if problems else "healthy"
    answer: dict[str, Any] = {"status": status, "problems": problems, "waiting": waiting}
    if arguments.get("verbose"):
        found = memories.run(lambda tx: rows.stats(tx, project=place))
        model = memories.embedder.name if memories.embedder else "offline"
        answer["details"] = {"project": place, "vectors": model, **to_builtins(found)}
    return answer


def _one_project(arguments: Arguments, env: Env) -> str:
    place = project(arguments, env)
    if place == "*":
        raise SnellError("`*` is not a project for a new memory", advice="name one, or leave out `project`")
    return place


COMMANDS = {
    "tend.extract": run_in_thread(extract),
    "tend.consolidate": run_in_thread(consolidate),
    "tend.health": run_in_thread(health),
}
