"""The answers of the memory operations as text for people."""

import os
from collections.abc import Callable, Mapping
from typing import Any

from snell.cli.terminal import Colours, fields_of, plural, time_ago
from snell.memory.corrections import MARK as CORRECTED_BY
from snell.memory.map_drawing import brief
from snell.memory.validation import one_line
from snell.system.paths import places

_DRY_RUN = "\ndry run: nothing was changed; add --yes to apply"
Answer = Mapping[str, Any]


def _store_result(answer: Answer) -> str:
    """Say whether a memory was stored, and if not, why."""
    texts = {
        "stored": "remembered",
        "rejected_exact": "already stored, with the same text",
        "rejected_similar": "already stored, in other words",
        "potential_duplicate": "not stored: a very similar memory exists",
        "rejected_quality": "not stored: too little content; say what it is about and why",
    }
    older = f", replaces {answer['supersedes']}" if answer.get("supersedes") else ""
    return f"{texts[answer['status']]} {answer['id']}{older}".rstrip()


def _memories(answer: Answer) -> str:
    if not answer["memories"]:
        return "no memory found in this project; `snell memory remember TEXT` stores one, `--project '*'` searches all"
    return "\n".join(render_memory(each, Colours(on=False)) for each in answer["memories"])


def render_memory(memory: Answer, paint: Colours) -> str:
    """Return one memory on two lines."""
    fit = f"{memory['similarity']:.2f}  " if "similarity" in memory else ""
    tags = f"  #{' #'.join(memory['tags'])}" if memory["tags"] else ""
    newer = (memory.get("metadata") or {}).get(CORRECTED_BY)
    corrected = f", corrected by {newer}" if newer else ""
    age = time_ago(memory["created_at"])
    head = f"{fit}{memory['id']}  {memory['namespace']}  {age}{corrected}, from {memory['source']}{tags}"
    return f"{paint.dim(one_line(head))}\n  {one_line(memory['content'][:400])}"


def _drain_result(answer: Answer) -> str:
    """Say how many captures were processed, and what is left."""
    statuses = answer["statuses"]
    lines = [f"{plural(sum(statuses.values()), 'capture')} processed" if statuses else "no captures to process"]
    lines += [f"  {number:6}  {name}" for name, number in statuses.items()]
    lines += [f"problem: {one_line(each)}" for each in answer["problems"]]
    return "\n".join([*lines, *([f"{plural(answer['left'], 'capture')} not processed yet"] if answer["left"] else [])])


def _forget_result(answer: Answer) -> str:
    """Say which memories were deleted, and where copies may remain."""
    lines = [fields_of({"forgotten": answer["forgotten"], "not found": answer["missing"]})]
    if answer.get("captures"):
        lines.append(f"{plural(answer['captures'], 'capture')} with the same text deleted too")
    if answer.get("not_searched"):
        older, folder = plural(answer["not_searched"], "older capture"), places(os.environ).state / "memory"
        lines.append(f"not searched: {older} in `{folder}`; processed captures are deleted after a week")
    return "\n".join(lines)


def _stats(answer: Answer) -> str:
    place = answer["project"] or "no project"
    failed, unread = answer.get("quarantined"), answer.get("unread_bytes", 0)
    lines = (
        f"{plural(answer['memories'], 'memory', 'memories')} of {'all projects' if place == '*' else place}",
        *(f"  {number:6}  {name}" for name, number in answer["namespaces"].items()),
        "capturing is on in this folder"
        if answer["capturing"]
        else "capturing is off in this folder; `snell setup --memory` enables it",
        unread and f"{unread / 1e6:,.1f} MB of transcripts not read yet; the daemon reads them in the background",
        answer.get("waiting")
        and f"{plural(answer['waiting'], 'capture')} not processed yet; `snell memory drain` processes them",
        failed and f"{plural(failed, 'capture')} failed three times; `snell memory health` shows details",
        answer.get("overlong_lines") and f"skipped: {plural(answer['overlong_lines'], 'transcript line')} over 1 MB",
        answer.get("problem") and f"the embedding model is not available: {answer['problem']}",
    )
    return "\n".join(line for line in lines if line)


def _path(answer: Answer) -> str:
    stops = [f"{each['part']:4.0%}  {each['id']}  {brief(each['content'], 90)}" for each in answer["stops"]]
    return "\n".join([*stops, *filter(None, [answer["remark"]])])


def _regions(answer: Answer) -> str:
    found = [
        f"{each['size']:6}  {', '.join(each['keywords'])}\n        {brief(each['typical'], 90)}"
        for each in answer["regions"]
    ]
    return "\n".join([*found, f"{len(answer['alone']):6}  in no region", *filter(None, [answer["remark"]])])


VIEWS: Mapping[str, Callable[[Any], str]] = {
    "memory.remember": _store_result,
    **dict.fromkeys(("memory.recall", "memory.nearby", "memory.list"), _memories),
    "memory.forget_batch": _forget_result,
    **dict.fromkeys(
        ("memory.delete_namespace", "memory.decay", "memory.import", "memory.consolidate"),
        lambda answer: f"{fields_of(answer)}{_DRY_RUN if answer.get('dry_run') else ''}",
    ),
    "memory.stats": _stats,
    "memory.drain": _drain_result,
    "memory.extract": lambda answer: "\n".join(
        [*(f"{each['status']}  {each['content']}" for each in answer["results"]), f"{answer['stored']} remembered"]
    ),
    **dict.fromkeys(("memory.journey", "memory.wander"), _path),
    "memory.regions": _regions,
}
