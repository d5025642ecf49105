"""Explore memories by their vectors: paths, walks, clusters and maps."""

import random
from collections.abc import Mapping
from typing import Any, TypeVar

from msgspec import Struct, to_builtins

from snell.memory import rows
from snell.memory.clusters import Region
from snell.memory.clusters import regions as grouped
from snell.memory.map_drawing import mermaid, svg
from snell.memory.map_layout import MOST_POINTS, compute_layout
from snell.memory.map_paths import Stop
from snell.memory.map_paths import journey as travelled
from snell.memory.map_paths import wander as wandered
from snell.memory.service import memories_of
from snell.memory.types import Memory
from snell.memory.validation import check_namespace
from snell.memory.vector_space import MOST, Space
from snell.model.errors import SnellError
from snell.model.protocols import Transaction
from snell.operations import run_in_thread
from snell.operations.memory import project
from snell.runtime.app import Runtime

Arguments = Mapping[str, Any]
Env = Mapping[str, str]
Number = TypeVar("Number", int, float)
FORMS = ("json", "mermaid", "svg")


class _Selection(Struct):
    """The selected memories and their vectors."""

    space: Space
    memories: dict[str, Memory]
    remark: str = ""


def journey(runtime: Runtime, arguments: Arguments, env: Env) -> dict[str, Any]:
    """Return the memories between two others. Arguments: start_id, end_id, steps."""
    ends = [str(arguments.get(name) or "") for name in ("start_id", "end_id")]
    steps = _number(arguments, "steps", 10, 2, 20)
    selection = _select(runtime, arguments, env, needed=ends)
    return _path(travelled(selection.space, ends[0], ends[1], steps), selection)


def wander(runtime: Runtime, arguments: Arguments, env: Env) -> dict[str, Any]:
    """Return the memories of a random walk. Arguments: start_id (default: any), steps, temperature."""
    steps, temperature = _number(arguments, "steps", 10, 1, 20), _number(arguments, "temperature", 0.5, 0, 1)
    start = arguments.get("start_id")
    selection = _select(runtime, arguments, env, needed=[start] if start else [])
    if not len(selection.space):
        return {"stops": [], "remark": "this project has no memories yet"}
    chance = random.Random()
    begin = start or chance.choice(selection.space.ids)
    return _path(wandered(selection.space, begin, steps, temperature, chance), selection)


def regions(runtime: Runtime, arguments: Arguments, env: Env) -> dict[str, Any]:
    """Return clusters of memories, and those in none. Arguments: min_cluster_size, max_clusters."""
    selection = _select(runtime, arguments, env)
    smallest, most = _number(arguments, "min_cluster_size", 3, 2, 50), _number(arguments, "max_clusters", 100, 1, 100)
    found, alone = grouped(selection.space, _texts(selection), smallest, most)
    return {"regions": [_region_data(each, selection) for each in found], "alone": alone, "remark": selection.remark}


def visualize(runtime: Runtime, arguments: Arguments, env: Env) -> dict[str, Any]:
    """Return a map of the memories. Arguments: format, dimensions, include_edges."""
    form, edges = arguments.get("format", "json"), arguments.get("include_edges", True)
    if form not in FORMS:
        raise SnellError(f"`{str(form)[:40]}` is not a format for a map", advice=f"use {', '.join(FORMS)}")
    dimensions = _number(arguments, "dimensions", 2, 2, 3)
    selection = _select(runtime, arguments, env, most=MOST_POINTS)
    found, _ = grouped(selection.space, _texts(selection))
    layout = compute_layout(selection.space, dimensions, [each.members for each in found])
    if form == "svg":
        drawing = svg(layout, selection.memories, found, edges=edges)
        return {"format": form, "drawing": drawing, "remark": selection.remark}
    if form == "mermaid":
        drawing = mermaid(layout, selection.memories, found, edges=edges)
        return {"format": form, "drawing": drawing, "remark": selection.remark}
    nodes = [_node(selection.memories[each], at, found) for each, at in layout.points.items()]
    lines = to_builtins(layout.edges) if edges else []
    shown = [_region_data(each, selection) for each in found]
    return {"format": form, "nodes": nodes, "edges": lines, "regions": shown, "remark": selection.remark}


def _select(
    runtime: Runtime, arguments: Arguments, env: Env, *, needed: list[str] | None = None, most: int = MOST
) -> _Selection:
    """Select the newest memories of the project, and always those in `needed`."""
    named = arguments.get("namespace") or ""
    place = {"project": project(arguments, env), "namespace": check_namespace(named) if named else ""}

    def work(tx: Transaction) -> tuple[dict[str, bytes], dict[str, Memory], int]:
        vectors = rows.vectors_of(tx, **place, limit=most)
        for each in needed or ():
            rows.get(tx, each)  # raises an error if it does not exist
        missing = [each for each in needed or () if each not in vectors]
        vectors = {**_vectors(tx, missing), **vectors} if missing else vectors
        return vectors, rows.get_many(tx, list(vectors)), sum(rows.namespaces(tx, project=place["project"]).values())

    vectors, memories, total = memories_of(runtime).run(work)
    first = {each: vectors[each] for each in needed or ()}
    space = Space({**first, **vectors}, most if most < MOST else None)
    left = total - len(space) if not place["namespace"] else space.left_out
    remark = f"only the newest {len(space)} memories are included; {left} are left out" if left > 0 else ""
    return _Selection(space, {each: memories[each] for each in space.ids}, remark)


def _vectors(tx: Transaction, ids: list[str]) -> dict[str, bytes]:
    found = (tx.rows("SELECT vector FROM memories WHERE id = ?", each) for each in ids)
    return {each: bytes(row[0][0]) for each, row in zip(ids, found, strict=True)}


def _number(arguments: Arguments, name: str, default: Number, least: int, most: int) -> Number:
    value = arguments.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, type(default) | int) or not least <= value <= most:
        raise SnellError(f"`{name}` is `{str(value)[:40]}`, not a number from {least} to {most}")
    return value


def _path(stops: list[Stop], selection: _Selection) -> dict[str, Any]:
    shown = []
    for stop in stops:
        memory = selection.memories[stop.id]
        shown.append({**to_builtins(stop), "content": memory.content, "namespace": memory.namespace})
    return {"stops": shown, "remark": selection.remark}


def _texts(selection: _Selection) -> dict[str, str]:
    return {each: memory.content for each, memory in selection.memories.items()}


def _region_data(region: Region, selection: _Selection) -> dict[str, Any]:
    typical = selection.memories[region.members[0]].content if region.members else ""
    return {**to_builtins(region), "size": len(region.members), "typical": typical}


def _node(memory: Memory, at: tuple[float, ...], found: list[Region]) -> dict[str, Any]:
    region = next((number for number, each in enumerate(found) if memory.id in each.members), None)
    about = {"id": memory.id, "content": memory.content, "namespace": memory.namespace}
    return {**about, "importance": memory.importance, "at": list(at), "region": region}


COMMANDS = {
    "explore.journey": run_in_thread(journey),
    "explore.wander": run_in_thread(wander),
    "explore.regions": run_in_thread(regions),
    "explore.visualize": run_in_thread(visualize),
}
