"""Print memories and the answers of the memory operations for people."""

import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from snell.cli.colours import Colours
from snell.cli.table import plural
from snell.memory.corrections import MARK as CORRECTED_BY
from snell.memory.map_drawing import brief
from snell.memory.validation import one_line
from snell.model.errors import SnellError
from snell.system.paths import places


def show_stored(answer: Mapping[str, Any]) -> None:
    """Print whether a memory was stored, and if not, why."""
    texts = {
        "stored": "remembered",
        "rejected_exact": "already stored, with the same text",
        "rejected_similar": "already stored, in other words",
        "potential_duplicate": "not stored: a very similar memory exists",
        "rejected_quality": "not stored: too little content; say what it is about and why",
    }
    older = f", replaces {answer['supersedes']}" if answer.get("supersedes") else ""
    print(f"{texts[answer['status']]} {answer['id']}{older}".rstrip())


def show_memories(answer: Mapping[str, Any]) -> None:
    """Print a list of memories."""
    if not answer["memories"]:
        print("no memory found in this project; `--project '*'` searches all projects")
    for each in answer["memories"]:
        print(render_memory(each, Colours.for_stdout(), time.time()))


def render_memory(memory: Mapping[str, Any], paint: Colours, now: float) -> str:
    """Return one memory on two lines."""
    age = plural(round(max(0.0, now - memory["created_at"] / 1000) / 86_400), "day")
    fit = f"{memory['similarity']:.2f}  " if "similarity" in memory else ""
    tags = f"  #{' #'.join(memory['tags'])}" if memory["tags"] else ""
    newer = memory.get("metadata", {}).get(CORRECTED_BY)
    corrected = f", corrected by {newer}" if newer else ""
    head = f"{fit}{memory['id']}  {memory['namespace']}  {age} old{corrected}, from {memory['source']}{tags}"
    return f"{paint.dim(one_line(head))}\n  {one_line(memory['content'][:400])}"


def show_drained(answer: Mapping[str, Any]) -> None:
    """Print how many captures were processed, and what is left."""
    statuses = answer["statuses"]
    print(f"{plural(sum(statuses.values()), 'capture')} processed" if statuses else "no captures to process")
    print("".join(f"{_row(name, number)}\n" for name, number in statuses.items()), end="")
    print("".join(f"problem: {_plain(each)}\n" for each in answer["problems"]), end="")
    if answer["left"]:
        print(f"{plural(answer['left'], 'capture')} not processed yet")


def show_forgotten(answer: Mapping[str, Any]) -> None:
    """Print which memories were deleted, and where copies may remain."""
    show_table({name: answer[name] for name in ("forgotten", "missing")})
    if answer.get("captures"):
        print(f"{plural(answer['captures'], 'capture')} with the same text deleted too")
    if answer.get("not_searched"):
        older, folder = plural(answer["not_searched"], "older capture"), places(os.environ).state / "memory"
        print(f"not searched: {older} in `{folder}`; processed captures are deleted after a week")


def show_stats(answer: Mapping[str, Any]) -> None:
    """Print the statistics; a daemon of an earlier version does not have all of them."""
    place = answer["project"] or "no project"
    print(f"{plural(answer['memories'], 'memory', 'memories')} of {'all projects' if place == '*' else place}")
    for name, number in answer["namespaces"].items():
        print(f"  {number:6}  {name}")
    print(
        "capturing is on in this folder"
        if answer["capturing"]
        else "capturing is off in this folder; `snell setup --memory` enables it"
    )
    if unread := answer.get("unread_bytes"):
        print(f"{unread / 1e6:,.1f} MB of transcripts not read yet; the daemon reads them in the background")
    if answer.get("waiting"):
        print(f"{plural(answer['waiting'], 'capture')} not processed yet; `snell memory drain` processes them")
    if answer.get("quarantined"):
        print(f"{plural(answer['quarantined'], 'capture')} failed three times; `snell memory health` shows details")
    if answer.get("overlong_lines"):
        print(f"skipped: {plural(answer['overlong_lines'], 'transcript line')} over 1 MB")
    if answer.get("problem"):
        print(f"the embedding model is not available: {answer['problem']}")


def show_table(answer: Mapping[str, Any]) -> None:
    """Print the fields of any answer."""
    for name, value in answer.items():
        if isinstance(value, dict):
            print("\n".join(_row(each, its) for each, its in value.items()) or f"no {name}")
        elif isinstance(value, list):
            print("".join(f"{name}: {_plain(each)}\n" for each in value[:20]), end="")
        elif name == "content":
            print("\n".join(f"  {one_line(line)}" for line in str(value).splitlines()))
        else:
            print(f"{name}: {_plain(value)}")


def _row(name: str, value: Any) -> str:
    """Return a line: a count in a column before its name, any other value after its name."""
    is_count = isinstance(value, int | float) and not isinstance(value, bool)
    return f"  {value:6}  {one_line(name)}" if is_count else f"  {one_line(name)}: {_plain(value)}"


def _plain(value: Any) -> str:
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return one_line(text)


def show_dry_run(answer: Mapping[str, Any]) -> None:
    """Print the fields of an answer, and whether it was a dry run."""
    show_table(answer)
    if answer.get("dry_run"):
        print("dry run: nothing was changed; add --yes to apply")


def show_results(answer: Mapping[str, Any]) -> None:
    """Print what `snell memory extract` found."""
    for each in answer["results"]:
        print(f"{each['status']}  {each['content']}")
    print(f"{answer['stored']} remembered")


def show_path(answer: Mapping[str, Any]) -> None:
    """Print the memories on a path between two of them."""
    for each in answer["stops"]:
        print(f"{each['part']:4.0%}  {each['id']}  {brief(each['content'], 90)}")
    if answer["remark"]:
        print(answer["remark"])


def show_regions(answer: Mapping[str, Any]) -> None:
    """Print the clusters of memories."""
    for each in answer["regions"]:
        print(f"{each['size']:6}  {', '.join(each['keywords'])}\n        {brief(each['typical'], 90)}")
    print(f"{len(answer['alone']):6}  in no region")
    if answer["remark"]:
        print(answer["remark"])


def show_map(answer: Mapping[str, Any]) -> None:
    """Print a map of the memories."""
    print(_drawing(answer), end="")
    if answer["remark"]:
        print(answer["remark"], file=sys.stderr)  # stdout is often redirected into a file


def write_map(answer: Mapping[str, Any], name: str) -> None:
    """Write a map into a new file. Raises SnellError."""
    path = Path(name).expanduser()
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(_drawing(answer))
    except FileExistsError:
        raise SnellError(f"`{path}` already exists", advice="choose another name, or remove it first") from None
    except OSError as error:
        raise SnellError(f"`{path}` cannot be written: {(error.strerror or str(error)).lower()}") from None
    print(path)
    if answer["remark"]:
        print(answer["remark"], file=sys.stderr)


def _drawing(answer: Mapping[str, Any]) -> str:
    return str(answer.get("drawing") or f"{msgspec.json.encode(answer).decode()}\n")
