"""Explore memories by their vectors: paths, walks, clusters and maps."""

import random
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, to_builtins

from snell.memory.types import Memory
from snell.model.protocols import Transaction
from snell.operations import results
from snell.operations.declaration import Answer, Call, about
from snell.operations.memory_call import (
    MemoryId,
    Namespace,
    Project,
    Steps,
    memories_of,
    memory_operation,
    project_of_call,
    valid_namespace,
)


class _Selection(Struct):
    """The selected memories and their vectors."""

    space: Any
    memories: dict[str, Memory]
    remark: str = ""


@memory_operation("memory.journey", tool=True, verb=True, gives=results.PathResult)
def journey(
    call: Call,
    start_id: MemoryId,
    end_id: MemoryId,
    steps: Annotated[int, about("the maximum number of steps", option="limit", ge=2, le=20)] = 10,
    namespace: Namespace = "",
    project: Project = "",
) -> Answer:
    """Show the memories between two others: how one topic leads to another."""
    from snell.memory.map_paths import journey

    selection = _select(call, project, namespace, needed=[start_id, end_id])
    return _path(journey(selection.space, start_id, end_id, steps), selection)


@memory_operation("memory.wander", tool=True, verb=True, gives=results.PathResult)
def wander(
    call: Call,
    start_id: Annotated[str, about("the first memory (default: a random one)", word=True)] = "",
    steps: Steps = 10,
    temperature: Annotated[float, about("0: always go to the nearest one", ge=0, le=1)] = 0.5,
    namespace: Namespace = "",
    project: Project = "",
) -> Answer:
    """Walk at random from memory to memory, to find related ones that no query would find."""
    from snell.memory.map_paths import wander

    selection = _select(call, project, namespace, needed=[start_id] if start_id else [])
    if not len(selection.space):
        return {"stops": [], "remark": "this project has no memories yet"}
    chance = random.Random()
    return _path(
        wander(selection.space, start_id or chance.choice(selection.space.ids), steps, temperature, chance), selection
    )


@memory_operation("memory.regions", tool=True, verb=True, gives=results.ShownRegions)
def regions(
    call: Call,
    min_cluster_size: Annotated[int, Meta(ge=2, le=50)] = 3,
    max_clusters: Annotated[int, Meta(ge=1, le=100)] | None = None,
    namespace: Namespace = "",
    project: Project = "",
) -> Answer:
    """List the topics of the memories: clusters of similar ones, with their keywords and a typical memory."""
    from snell.memory.clusters import regions

    selection = _select(call, project, namespace)
    found, alone = regions(selection.space, _texts(selection), min_cluster_size, max_clusters or 100)
    return {"regions": [_region_data(each, selection) for each in found], "alone": alone, "remark": selection.remark}


@memory_operation("memory.visualize", tool=True, gives=results.MapResult)
def visualize(
    call: Call,
    format_: Literal["json", "mermaid", "svg"] = "json",
    dimensions: Literal[2, 3] = 2,
    include_edges: bool = True,
    namespace: Namespace = "",
    project: Project = "",
) -> Answer:
    """Draw a map of the memories: positions as JSON, a picture as SVG, or a chart for Mermaid."""
    from snell.memory.clusters import regions
    from snell.memory.map_drawing import mermaid, svg
    from snell.memory.map_layout import MOST_POINTS, compute_layout

    selection = _select(call, project, namespace, most=MOST_POINTS)
    found, _ = regions(selection.space, _texts(selection))
    layout = compute_layout(selection.space, dimensions, [each.members for each in found])
    if format_ != "json":
        draw = svg if format_ == "svg" else mermaid
        drawing = draw(layout, selection.memories, found, edges=include_edges)
        return {"format": format_, "drawing": drawing, "remark": selection.remark}
    nodes = [_node(selection.memories[each], at, found) for each, at in layout.points.items()]
    lines = to_builtins(layout.edges) if include_edges else []
    shown = [_region_data(each, selection) for each in found]
    return {"format": format_, "nodes": nodes, "edges": lines, "regions": shown, "remark": selection.remark}


def _select(
    call: Call, project: str, namespace: str, *, needed: list[str] | None = None, most: int | None = None
) -> _Selection:
    """Select the newest memories of the project, and always those in `needed`."""
    from snell.memory import rows
    from snell.memory.vector_space import MOST, Space

    most = most or MOST
    place = {"project": project_of_call(call, project), "namespace": valid_namespace(namespace)}

    def work(tx: Transaction) -> tuple[dict[str, bytes], dict[str, Memory], int]:
        vectors = rows.vectors_of(tx, **place, limit=most)
        for each in needed or ():
            rows.get(tx, each)  # raises an error if it does not exist
        missing = [each for each in needed or () if each not in vectors]
        vectors = {**_vectors(tx, missing), **vectors} if missing else vectors
        return vectors, rows.get_many(tx, list(vectors)), sum(rows.namespaces(tx, project=place["project"]).values())

    vectors, memories, total = memories_of(call).run(work)
    first = {each: vectors[each] for each in needed or ()}
    space = Space({**first, **vectors}, most if most < MOST else None)
    left = total - len(space) if not place["namespace"] else space.left_out
    remark = f"only the newest {len(space)} memories are included; {left} are left out" if left > 0 else ""
    return _Selection(space, {each: memories[each] for each in space.ids}, remark)


def _vectors(tx: Transaction, ids: list[str]) -> dict[str, bytes]:
    found = (tx.rows("SELECT vector FROM memories WHERE id = ?", each) for each in ids)
    return {each: bytes(row[0][0]) for each, row in zip(ids, found, strict=True)}


def _path(stops: list[Any], selection: _Selection) -> Answer:
    shown = []
    for stop in stops:
        memory = selection.memories[stop.id]
        shown.append({**to_builtins(stop), "content": memory.content, "namespace": memory.namespace})
    return {"stops": shown, "remark": selection.remark}


def _texts(selection: _Selection) -> dict[str, str]:
    return {each: memory.content for each, memory in selection.memories.items()}


def _region_data(region: Any, selection: _Selection) -> Answer:
    typical = selection.memories[region.members[0]].content if region.members else ""
    return {**to_builtins(region), "size": len(region.members), "typical": typical}


def _node(memory: Memory, at: tuple[float, ...], found: list[Any]) -> Answer:
    region = next((number for number, each in enumerate(found) if memory.id in each.members), None)
    about = {"id": memory.id, "content": memory.content, "namespace": memory.namespace}
    return {**about, "importance": memory.importance, "at": list(at), "region": region}
