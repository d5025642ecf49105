"""
Regions: groups of memories that have more to do with each other than with the rest.

Each memory is tied to its nearest ones, as strongly as they are more alike than two memories usually are. Then memories
move to the neighbours they are tied to most, until nobody gains by moving; and the groups do the same among themselves
(modularity, as Louvain's method raises it). How near is near follows from the memories, so there is nothing to choose.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from snell.llm.embeddings.stems import STOP_WORDS
from snell.memory.vector_space import Space

KEYWORDS = 4
TIES = 6  # of each memory
OUTLIER = 0.2  # less near to the middle of a group than this, a memory does not belong to it
_WORD = re.compile(r"[^\W\d_][\w-]*\w")

Graph = list[dict[int, float]]  # for each node, what it is tied to and how strongly; itself included


class Region(Struct, frozen=True, kw_only=True):
    """Memories about the same thing; the first one is the most typical."""

    keywords: tuple[str, ...] = ()
    coherence: float = 0.0  # how near its memories are to its middle, on average
    members: tuple[str, ...] = ()


def regions(
    space: Space, texts: Mapping[str, str], smallest: int = 3, most: int | None = None
) -> tuple[list[Region], list[str]]:
    """The groups, the largest first, and the memories that belong to none."""
    groups = _groups(_ties(space)) if len(space) >= smallest else []
    found = [_region(space, group) for group in groups]
    large = sorted((each for each in found if len(each.members) >= smallest), key=_rank)[:most]
    named = _with_keywords(large, texts)
    inside = {each for region in named for each in region.members}
    return named, [each for each in space.ids if each not in inside]


def _rank(region: Region) -> tuple[int, float, tuple[str, ...]]:
    return -len(region.members), -region.coherence, region.members


def _ties(space: Space) -> Graph:
    graph: Graph = [{} for _ in range(len(space))]
    usual = space.usual()
    for index in range(len(space)):
        for near in space.neighbours(index, TIES):
            strength = near.similarity - usual
            if strength > 0:
                graph[index][near.index] = graph[near.index][index] = strength
    return graph


def _groups(graph: Graph) -> list[list[int]]:
    """Nodes that belong together, by the graph's own nodes."""
    members = [[node] for node in range(len(graph))]
    while True:
        group = _moved(graph)
        names = {name: number for number, name in enumerate(dict.fromkeys(group))}
        if len(names) == len(graph):
            return members
        joined: list[list[int]] = [[] for _ in names]
        ties: Graph = [defaultdict(float) for _ in names]
        for node, near in enumerate(graph):
            here = names[group[node]]
            joined[here] += members[node]
            for other, strength in near.items():
                ties[here][names[group[other]]] += strength
        graph, members = ties, joined


def _moved(graph: Graph) -> list[int]:
    """The group of each node, after all moves that raise the modularity."""
    weight = [sum(near.values()) for near in graph]
    whole = sum(weight) or 1.0
    group, total = list(range(len(graph))), list(weight)
    for _ in range(50):  # it ends by itself; rounding must not keep it from doing so
        is_moving = False
        for node, near in enumerate(graph):
            home = group[node]
            total[home] -= weight[node]
            pull: dict[int, float] = defaultdict(float)
            for other, strength in near.items():
                if other != node:
                    pull[group[other]] += strength
            stay = pull[home] - weight[node] * total[home] / whole
            best, gain = home, stay + 1e-9
            for name in sorted(pull):
                worth = pull[name] - weight[node] * total[name] / whole
                if worth > gain:
                    best, gain = name, worth
            group[node] = best
            total[best] += weight[node]
            is_moving |= best != home
        if not is_moving:
            break
    return group


def _region(space: Space, members: Sequence[int]) -> Region:
    near = space.similarities(space.centre(members))
    near_enough = [each for each in members if near[each] >= OUTLIER]
    ordered = sorted(near_enough, key=lambda each: (-near[each], each))
    average = sum(near[each] for each in ordered) / (len(ordered) or 1)
    return Region(coherence=round(average, 4), members=tuple(space.ids[each] for each in ordered))


def _with_keywords(found: Sequence[Region], texts: Mapping[str, str]) -> list[Region]:
    """Words that many memories of a region have and few of the others."""
    words = {each: _words(text) for each, text in texts.items()}
    inside = [_counted(words[each] for each in region.members) for region in found]
    overall = _counted(words.values())

    def weight(counts: Mapping[str, int], word: str, size: int) -> float:
        share = counts[word] / size
        return share * math.log((1 + len(words)) / (1 + overall[word] - counts[word]))

    named = []
    for region, counts in zip(found, inside, strict=True):
        usable = [word for word in counts if counts[word] > 1]
        best = sorted(usable, key=lambda word: (-weight(counts, word, len(region.members)), word))[:KEYWORDS]
        named.append(Region(keywords=tuple(best), coherence=region.coherence, members=region.members))
    return named


def _words(text: str) -> set[str]:
    found = (match.group() for match in _WORD.finditer(text[:2_000].lower()))
    return {word for word in found if 2 < len(word) < 30 and word not in STOP_WORDS}


def _counted(sets: Iterable[set[str]]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for each in sets:
        for word in each:
            counts[word] = counts.get(word, 0) + 1
    return counts
