"""
The whole way, as a client pays it: spawn `snell-hook`, have the daemon ask twenty Python hooks, take the answer.

A neighbour's burst lasts longer than a round, so rounds are taken in groups; a ratio is that of two medians inside
one group, and the quietest group counts. The middle one is printed beside it.
"""

import functools
import random
import statistics
from collections.abc import Mapping

from bench.measure import python
from bench.scene import HOOK, OURS, PAYLOAD, scene
from bench.shim import spawned

GROUPS, ROUNDS = 10, 40
CANDIDATES = {
    "snell-hook": OURS,
    "/bin/true": ["/bin/true"],
    "sh -c 'exec snell-hook'": ["/bin/sh", "-c", f"exec '{HOOK}' --client claude-code"],
    "sh -c /bin/true": ["/bin/sh", "-c", "/bin/true"],
}
REGISTERED, RUNNING = "edit", "shell"  # the tools that the hooks are for; the call is one of the shell

Group = Mapping[str, tuple[float, float]]  # median wall and CPU seconds


def warm_hook_over_true() -> tuple[float, dict[str, float]]:
    """A warm round trip with twenty hooks registered and our packs at work, over spawning `/bin/true`."""
    return _quietest(REGISTERED, "snell-hook", "/bin/true", 0)


def warm_hook_cpu_over_true() -> tuple[float, dict[str, float]]:
    """The processor time of that process, over that of `/bin/true`."""
    return _quietest(REGISTERED, "snell-hook", "/bin/true", 1)


def warm_hook_in_shell_over_true_in_shell() -> tuple[float, dict[str, float]]:
    """A warm round trip through `sh -c`, as most clients run hooks."""
    return _quietest(REGISTERED, "sh -c 'exec snell-hook'", "sh -c /bin/true", 0)


def running_hooks_over_true() -> tuple[float, dict[str, float]]:
    """The same where all twenty run, in their process."""
    return _quietest(RUNNING, "snell-hook", "/bin/true", 0)


def running_hooks_in_shell_over_true_in_shell() -> tuple[float, dict[str, float]]:
    """The same through `sh -c`."""
    return _quietest(RUNNING, "sh -c 'exec snell-hook'", "sh -c /bin/true", 0)


def cold_start_over_bare_python(rounds: int = 5) -> tuple[float, dict[str, float]]:
    """The first event, which starts the daemon and the hooks' process, over starting Python for nothing."""
    cold, bare = [], []
    with scene() as here:
        for _ in range(rounds):
            here.stop()
            cold.append(here.send())
            bare += [spawned(python("pass"), here.env)[0] for _ in range(5)]
    times = {"cold first event": min(cold), "python -c pass": min(bare)}
    return min(cold) / min(bare), times


@functools.cache
def groups(kind: str) -> tuple[Group, ...]:
    """With one daemon at a time: a second one would take the processor's caches from the first."""
    with scene(kind) as here:
        return tuple(_group(here.env) for _ in range(GROUPS))


def _group(env: dict[str, str]) -> Group:
    samples: dict[str, list[tuple[float, float]]] = {name: [] for name in CANDIDATES}
    for _ in range(ROUNDS):
        for name in random.sample(list(CANDIDATES), len(CANDIDATES)):
            samples[name].append(spawned(CANDIDATES[name], env, PAYLOAD))
    return {name: _medians(taken) for name, taken in samples.items()}


def _medians(taken: list[tuple[float, float]]) -> tuple[float, float]:
    return statistics.median(wall for wall, _ in taken), statistics.median(cpu for _, cpu in taken)


def _quietest(kind: str, ours: str, theirs: str, field: int) -> tuple[float, dict[str, float]]:
    best = min(groups(kind), key=lambda group: sum(wall for wall, _ in group.values()))
    by_ratio = sorted(groups(kind), key=lambda group: group[ours][field] / group[theirs][field])
    middle = by_ratio[len(by_ratio) // 2]
    times = {
        name: group[each][field]
        for group, word in ((best, ""), (middle, " (middle)"))
        for each, name in ((ours, f"{ours}{word}"), (theirs, f"{theirs}{word}"))
    }
    return best[ours][field] / best[theirs][field], times
