"""Loops that start processes without end, as the tree shows them."""

from snell.shell.tree import Chain, For, Group, Loop, Node, Pipe, Simple

_NEVER_ENDS = frozenset(("true", ":", "/bin/true", "/usr/bin/true", "1"))
_ENDS_AT_ONCE = frozenset(("false", "/bin/false", "/usr/bin/false"))
_LEAVES = frozenset(("break", "return", "exit", "sleep"))


def is_bomb(node: Loop) -> bool:
    """Return whether a loop never ends, starts something in the background, and neither waits nor leaves."""
    return _is_endless(node) and _starts_many(node.body)


def _is_endless(node: Loop) -> bool:
    condition = node.condition
    if isinstance(condition, Group):
        condition = condition.body
    if not isinstance(condition, Simple) or not condition.words:
        return False
    if condition.words[0].plain in ("[", "[[", "test"):
        return len(condition.words) > 1 and condition.words[1].plain in ("1", "true", ":")
    return condition.words[0].plain in (_ENDS_AT_ONCE if node.until else _NEVER_ENDS)


def _starts_many(node: Node) -> bool:
    waits = 0 if _count(node, ("disown",)) else _count(node, ("wait",))  # `wait` does not wait for a disowned job
    return _count_background(node) > waits and not _count(node, _LEAVES)


def _count_background(node: Node) -> int:
    """Return how many commands go on in the background."""
    if isinstance(node, Chain):
        return node.joiners.count("&") + sum(map(_count_background, node.nodes))
    if isinstance(node, Group):
        return _count_background(node.body) * (100 if node.is_subshell else 1)  # only the subshell can wait for them
    if isinstance(node, Loop | For):
        return _count_background(node.body)
    return sum(map(_count_background, node.nodes)) if isinstance(node, Pipe) else 0


def _count(node: Node, words: tuple[str, ...] | frozenset[str]) -> int:
    """Return how often one of these words is run in the foreground."""
    if isinstance(node, Chain):
        pairs = zip(node.nodes, node.joiners, strict=True)
        return sum(_count(item, words) for item, joiner in pairs if joiner != "&")
    if isinstance(node, Group):
        return 0 if node.is_subshell else _count(node.body, words)
    if isinstance(node, Loop | For):
        return _count(node.body, words)
    if isinstance(node, Pipe):
        return sum(_count(stage, words) for stage in node.nodes)
    return int(isinstance(node, Simple) and bool(node.words) and node.words[0].plain in words)
