"""
Classify the side effects of a tool call, and whether the call may be repeated.

By the rules of policy files first, then by the kind of the tool or the hints of its server, then by the verbs in its
name. An unknown tool counts as external.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from snell.records.idempotency import Identity
from snell.system.lazy_regex import lazy_regex

SideEffects = Literal["external", "memory", "local", "read_only"]
Replay = Literal["REPLAY_EXACT", "RELAUNCH", "REPLAY_IDEMPOTENT"]

PATTERN_SECONDS = 0.05


_FILE = Path(__file__).with_suffix(".toml")
_TABLES = msgspec.toml.decode(_FILE.read_bytes(), type=dict[str, dict[SideEffects, str]])
_BY_KIND, _CLIENT_TOOLS, _MCP_TOOLS, _VERBS = (
    {name: effects for effects, text in _TABLES[table].items() for name in text.split()}
    for table in ("kinds", "client_tools", "mcp_tools", "verbs")
)
_WORDS = lazy_regex(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")
_NAMES = lazy_regex(r"[\w-]+(?:\|[\w-]+)*")  # a pattern that only lists names


class Rule(Struct, frozen=True, kw_only=True):
    """One rule of a policy file. Fields that it does not set are determined as without it."""

    id: str
    tool: str  # a pattern for the complete name
    namespace: str = ""
    side_effects: SideEffects | None = None
    replay: Replay | None = None
    only: SideEffects | None = None  # the rule applies only to calls of this class


class Classification(Struct, frozen=True):
    """The side effects of a call, its replay policy, and the rule that decided."""

    side_effects: SideEffects
    replay: Replay
    rule: str = ""


def classify(
    tool: Identity,
    kind: str,
    rules: Sequence[Rule] = (),
    *,
    shell: SideEffects | None = None,
    hints: Mapping[str, object] | None = None,
) -> Classification:
    """Classify a call. `shell`: the effects of a shell call's command line. `hints`: annotations of an MCP server."""
    first = _rule(tool, rules, None)
    effects = (first and first.side_effects) or shell or _by_hints(hints) or known_class(tool, kind)
    rule = first if first and first.side_effects else _rule(tool, rules, effects)
    return Classification(effects, replay_of(kind, effects, rule), rule.id if rule else "")


def known_class(tool: Identity, kind: str) -> SideEffects:
    """Return the class of a tool without a policy: by kind, by well-known names, by verbs."""
    if tool.namespace == "mcp":
        return _MCP_TOOLS.get(tool.name.lower()) or _by_verbs(tool.name) or "local"
    return _CLIENT_TOOLS.get(tool.name) or _BY_KIND.get(kind) or _by_verbs(tool.name) or "external"


def replay_of(kind: str, effects: SideEffects, rule: Rule | None = None) -> Replay:
    """Return the replay policy: sub-agents restart, then a rule decides; else only read-only calls may repeat."""
    if kind == "agent":
        return "RELAUNCH"
    if rule and rule.replay:
        return rule.replay
    return "REPLAY_IDEMPOTENT" if effects == "read_only" else "REPLAY_EXACT"


def _rule(tool: Identity, rules: Sequence[Rule], effects: SideEffects | None) -> Rule | None:
    """Return the first rule for this tool; rules for one class need the class in `effects`."""
    for rule in rules:
        if rule.namespace and rule.namespace != tool.namespace:
            continue
        if rule.only is not None and rule.only != effects:
            continue
        if is_match(rule.tool, tool.name) or is_match(rule.tool, tool.raw):
            return rule
    return None


@lru_cache(maxsize=2_048)  # a few tools are called again and again
def is_match(pattern: str, name: str) -> bool:
    """Whether a pattern of a policy file fits the complete text, in any case."""
    if _NAMES.fullmatch(pattern):
        return name.lower() in pattern.lower().split("|")
    import regex  # slow to import, large, and most policies list names

    try:
        return regex.fullmatch(pattern, name, regex.IGNORECASE, timeout=PATTERN_SECONDS) is not None
    except TimeoutError:
        return False


def _by_hints(hints: Mapping[str, object] | None) -> SideEffects | None:
    """Classify by a server's annotations; only `readOnlyHint` can make a call repeatable."""
    given = {name for name, value in (hints or {}).items() if value is True}
    if "readOnlyHint" in given:
        return "read_only"
    return "external" if given & {"destructiveHint", "openWorldHint"} else None


def _by_verbs(name: str) -> SideEffects | None:
    words = {word.lower() for word in _WORDS.findall(name)}
    found = {_VERBS[word] for word in words & _VERBS.keys()}
    if "external" in found:
        return "memory" if "memory" in words else "external"
    return "read_only" if found else None
