"""
Group memories into regions: those that have more in common with each other than with the rest.

A graph connects each memory with its nearest ones; an edge weighs as much as the two are more similar than two memories
usually are. Memories then move to the group they are most connected with, until no move raises the modularity, and the
groups are merged in the same way (Louvain's method). The thresholds follow from the memories themselves.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from snell.llm.embeddings.stems import STOP_WORDS
from snell.memory.vector_space import Space

KEYWORDS = 4
EDGES = 6  # of each memory
OUTLIER = 0.2  # a memory with less similarity to the centre of a group does not belong to it
_WORD = re.compile(r"[^\W\d_][\w-]*\w")

Graph = list[dict[int, float]]  # for each node the weights of its edges; itself included


class Region(Struct, frozen=True, kw_only=True):
    """Memories about the same subject; the first one is the most typical."""

    keywords: tuple[str, ...] = ()
    coherence: float = 0.0  # average similarity of its memories to its centre
    members: tuple[str, ...] = ()


def regions(
    space: Space, texts: Mapping[str, str], smallest: int = 3, most: int | None = None
) -> tuple[list[Region], list[str]]:
    """Return the groups, the largest first, and the memories that belong to none."""
    groups = _groups(_edges(space)) if len(space) >= smallest else []
    found = [_region(space, group) for group in groups]
    large = [each for each in found if len(each.members) >= smallest]
    large = sorted(large, key=lambda each: (-len(each.members), -each.coherence, each.members))[:most]
    named = _with_keywords(large, texts)
    inside = {each for region in named for each in region.members}
    return named, [each for each in space.ids if each not in inside]


def _edges(space: Space) -> Graph:
    graph: Graph = [{} for _ in range(len(space))]
    usual = space.chance_similarity()
    for (one, other), similarity in space.near_pairs(EDGES, usual).items():
        graph[one][other] = graph[other][one] = similarity - usual
    return graph


def _groups(graph: Graph) -> list[list[int]]:
    """Return the nodes that belong together, as indices of the graph."""
    members = [[node] for node in range(len(graph))]
    while True:
        group = _assign_groups(graph)
        names = {name: number for number, name in enumerate(dict.fromkeys(group))}
        if len(names) == len(graph):
            return members
        joined: list[list[int]] = [[] for _ in names]
        merged_graph: Graph = [defaultdict(float) for _ in names]
        for node, near in enumerate(graph):
            here = names[group[node]]
            joined[here] += members[node]
            for other, strength in near.items():
                merged_graph[here][names[group[other]]] += strength
        graph, members = merged_graph, joined


def _assign_groups(graph: Graph) -> list[int]:
    """Return the group of each node after all moves that raise the modularity."""
    weight = [sum(near.values()) for near in graph]
    total_weight = sum(weight) or 1.0
    group, total = list(range(len(graph))), list(weight)
    for _ in range(50):  # it ends by itself; the limit is for rounding errors
        is_moving = False
        for node, near in enumerate(graph):
            current = group[node]
            total[current] -= weight[node]
            weights: dict[int, float] = defaultdict(float)
            for other, strength in near.items():
                if other != node:
                    weights[group[other]] += strength
            stay = weights[current] - weight[node] * total[current] / total_weight
            best, gain = current, stay + 1e-9
            for name in sorted(weights):
                value = weights[name] - weight[node] * total[name] / total_weight
                if value > gain:
                    best, gain = name, value
            group[node] = best
            total[best] += weight[node]
            is_moving |= best != current
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
    """Add keywords: words that many memories of a region have and few of the others."""
    words = {each: _words(text) for each, text in texts.items()}
    inside = [_count_words(words[each] for each in region.members) for region in found]
    overall = _count_words(words.values())

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


def _count_words(sets: Iterable[set[str]]) -> Counter[str]:
    return Counter(word for each in sets for word in each)
