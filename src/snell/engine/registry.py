"""
The registry: hooks from all scopes in execution order, filtered by the switches, and looked up by event.

What follows from an event's name and its matcher value is computed once and cached, so that ten thousand hooks cost an
event no more than ten; for a tool that is new, an index finds the hooks that may apply. What changes from event to
event (`if` conditions, `once`, sessions) is checked afterwards, and only for hooks that have it.
"""

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from snell.engine.match import Predicate, compile_matcher, exact_names, names_nothing, targets
from snell.model.catalogue import row_of
from snell.model.decision import Skipped
from snell.model.errors import PatternError
from snell.model.events import Event
from snell.model.hooks import Broken, Hook, Pick, Scope, Switches, Tier
from snell.model.protocols import Condition, Store

MEMO_LIMIT = 512  # tool names and paths come from outside
MOST_SKIPPED = 200  # hooks that a trace names because they do not apply; the others are counted


class EventHooks:
    """The hooks of one event in execution order, and which of them may apply to a call of given names and kinds."""

    def __init__(self) -> None:
        self.entries: list[tuple[Hook, Predicate | None]] = []
        self._always: list[int] = []
        self._by_kind: dict[str, list[int]] = {}  # hooks without a matcher
        self._by_name: dict[str, list[int]] = {}
        self._by_pattern: dict[tuple[str | None, str | None], tuple[Predicate, list[int]]] = {}

    def add(self, hook: Hook, predicate: Predicate | None, names: frozenset[str] | None) -> None:
        position = len(self.entries)
        self.entries.append((hook, predicate))
        if predicate is None:
            for kind in hook.kinds:
                self._by_kind.setdefault(kind, []).append(position)
            if not hook.kinds:
                self._always.append(position)
        elif names is not None:
            for name in names:
                self._by_name.setdefault(name, []).append(position)
        else:
            self._by_pattern.setdefault((hook.matcher, hook.matcher_type), (predicate, []))[1].append(position)

    def positions(self, event: Event) -> list[int]:
        """Return where the hooks are that may apply. All others do not: their matcher or kind names other calls."""
        names = targets(event)
        found = [*self._always]
        for kind in event.kinds:
            found += self._by_kind.get(kind, ())
        for name in names:
            found += self._by_name.get(name, ())
        for predicate, theirs in self._by_pattern.values():
            try:
                if any(map(predicate, names)):
                    found += theirs
            except PatternError:
                found += theirs  # it is reported with each of them
        return sorted({*found})


NO_HOOKS = EventHooks()


class Registry:
    """Immutable once built; a changed set of hooks is a new registry."""

    def __init__(
        self, hooks: Iterable[Hook], *, switches: Switches | None = None, condition: Condition | None = None
    ) -> None:
        self.switches = switches or Switches()
        self._is_sequential = self.switches.order == "sequential"
        self.problems: list[str] = []
        self._condition = condition
        self._by_event: dict[str, EventHooks] = {}
        self._picks: dict[tuple[str, ...], Pick] = {}
        self._skips: dict[tuple[str, ...], list[Skipped]] = {}
        self._last_positions: tuple[tuple[str, ...], list[int]] = ((), [])  # the trace of a new tool needs them again
        for hook in sorted(hooks, key=lambda hook: hook.scope):  # stable: declared order inside a scope
            self._add(hook)

    def pick(self, event: Event, marks: Store) -> Pick:
        """Return the hooks that apply to this event now, by tier and role."""
        # INVARIANT: the key holds all that `_why_never` reads.
        key = _key(event)
        found = self._picks.get(key)
        if found is None:
            found = self._remember(key, event)
        if not found.needs_check_per_event:
            return found
        # Duplicates are dropped last: a hook that does not run must not hide its duplicate.
        now = [hook for hook in found.hooks if not self._why_not_now(hook, event, marks)]
        return _arrange(now, event, self._is_sequential)

    def skipped_hooks(self, event: Event, marks: Store) -> list[Skipped]:
        """Return every hook of this event that does not apply, and why; for the trace."""
        key = _key(event)
        known = self._skips.get(key)
        if known is None:
            known = self._why_skipped(event, marks)
            entries = self._by_event.get(event.name, NO_HOOKS).entries
            if not any(hook.condition or _depends(hook) for hook, _ in entries):
                if len(self._skips) >= MEMO_LIMIT:
                    self._skips.clear()
                self._skips[key] = known
        return known

    def _why_skipped(self, event: Event, marks: Store) -> list[Skipped]:
        of_event = self._by_event.get(event.name, NO_HOOKS)
        entries = of_event.entries
        more = len(entries) - MOST_SKIPPED
        if more > 0:
            shown = sorted({*self._positions(of_event, event), *range(MOST_SKIPPED)})
            more = len(entries) - len(shown)
            entries = [entries[position] for position in shown]
        reasons = [(hook, self._why_not(hook, predicate, event, marks)) for hook, predicate in entries]
        running = {_likeness(hook): hook for hook, why in reversed(reasons) if not why}
        found = []
        for hook, why in reasons:
            if not why and (first := running[_likeness(hook)]) is not hook:
                why = f"it is the same as `{first.id}`, which runs once for both"
            found += [Skipped(hook.id, why)] if why else []
        if more > 0:
            found.append(Skipped(f"{more} more hooks", "they are for other tools"))
        return found

    def hooks(self) -> Iterable[Hook]:
        return (hook for each in self._by_event.values() for hook, _ in each.entries)

    def _add(self, hook: Hook) -> None:
        if self.switches.only_observe and hook.scope is not Scope.POLICY and hook.on_failure:
            hook = replace(hook, on_failure=None)  # so that its failure does not block either
        row = row_of(hook.event)
        if hook.matcher and not row.matches and hook.event:
            self.problems.append(f"{hook.source}: {hook.event} has nothing to match, so the matcher is ignored")
        try:
            predicate = compile_matcher(hook.matcher, hook.matcher_type, row) if row.matches else None
        except PatternError as error:
            self.problems.append(f"{hook.source}: hook `{hook.id}`: {error}")
            if not hook.can_judge or hook.scope is not Scope.POLICY:
                return
            kept = {name: getattr(hook, name) for name in ("id", "event", "scope", "on_failure", "source")}
            hook, predicate = Hook(role="judges", handler=Broken(str(error)), **kept), None
        if predicate is not None and names_nothing(hook.matcher or "", hook.matcher_type, row):
            self.problems.append(f"{hook.source}: hook `{hook.id}`: its matcher names nothing, so it never runs")
        names = None if predicate is None else exact_names(hook.matcher, hook.matcher_type, row)
        self._by_event.setdefault(hook.event, EventHooks()).add(hook, predicate, names)

    def _remember(self, key: tuple[str, ...], event: Event) -> Pick:
        if len(self._picks) >= MEMO_LIMIT:
            self._picks.clear()
        of_event = self._by_event.get(event.name, NO_HOOKS)
        candidates = map(of_event.entries.__getitem__, self._positions(of_event, event))
        matching = [hook for hook, predicate in candidates if not self._why_never(hook, predicate, event)]
        needs_check_per_event = any(map(_depends, matching))
        found = self._picks[key] = (
            Pick(tuple(matching), needs_check_per_event=True)
            if needs_check_per_event
            else _arrange(matching, event, self._is_sequential)
        )
        return found

    def _positions(self, hooks: EventHooks, event: Event) -> list[int]:
        key = _key(event)
        if self._last_positions[0] != key:
            self._last_positions = (key, hooks.positions(event))
        return self._last_positions[1]

    def _why_never(self, hook: Hook, predicate: Predicate | None, event: Event) -> str:
        """Return why a hook can never apply to an event of this name, tool and matcher value."""
        if not hook.enabled:
            return "it is not enabled"
        if hook.untrusted:
            return hook.untrusted
        if why := self.switches.why_disabled(hook):
            return why
        if hook.kinds and not set(event.kinds) & set(hook.kinds):
            return f"it is for {', '.join(hook.kinds)} calls, this is {event.kind or 'no tool call'}"
        if predicate is None:
            return ""
        return self._mismatch(hook, predicate, event)

    def _mismatch(self, hook: Hook, predicate: Predicate, event: Event) -> str:
        names = targets(event)
        try:
            matched = any(predicate(name) for name in names)
        except PatternError as error:
            # A pattern that takes too long is no reason to skip a guard.
            self.problems.append(f"{hook.source}: hook `{hook.id}` runs on every event: {error}")
            return ""
        return "" if matched else f"matcher `{hook.matcher}` does not match `{'` or `'.join(names) or 'nothing'}`"

    def _why_not(self, hook: Hook, predicate: Predicate | None, event: Event, marks: Store) -> str:
        why = self._why_never(hook, predicate, event) or self._why_not_now(hook, event, marks)
        return why or ("" if self.applies(hook, event) else f"its condition `{hook.condition}` does not hold")

    def _why_not_now(self, hook: Hook, event: Event, marks: Store) -> str:
        """Return why a hook does not apply to this event, although it may to others of its kind."""
        if hook.session_id and hook.session_id != event.session_id:
            return "it belongs to another session"
        if hook.only_for and hook.only_for not in event.lineage:
            return "it belongs to another agent"
        if hook.once and marks.get(f"session:{event.session_id}", once_mark(hook)):
            return "it runs once a session, and has run"
        return ""

    def applies(self, hook: Hook, event: Event) -> bool:
        """Return whether the hook's `if` rule holds for the input that it would see, which may have been rewritten."""
        return not hook.condition or self._condition is None or self._condition(hook.condition, event)


def once_mark(hook: Hook) -> str:
    """Return the name of the mark that says this hook has had its one run; a skill's has one in each run of it."""
    return f"once:{hook.group}/{hook.id}" if hook.group else f"once:{hook.id}"


def _depends(hook: Hook) -> bool:
    """Return whether this hook depends on more than the event's name and tool."""
    return bool(hook.once or hook.session_id or hook.only_for)


def _key(event: Event) -> tuple[str, ...]:
    if event.tool and event.row.matches == "tool_name":
        if event.kind == "mcp":
            return (event.name, event.tool, event.tool_name, *event.kinds)
        return (event.name, event.tool, event.tool_name, event.kind)
    return (event.name, event.tool_name, *event.kinds, "", *targets(event))


def _arrange(hooks: list[Hook], event: Event, is_sequential: bool) -> Pick:
    distinct = _distinct(hooks)
    answering = [hook for hook in distinct if not hook.runs_later]
    policy = [hook for hook in answering if hook.scope is Scope.POLICY]
    rest = [hook for hook in answering if hook.scope is not Scope.POLICY]
    each = (_tier(policy, True, event, is_sequential), _tier(rest, False, event, is_sequential))
    tiers = [tier for tier in each if tier]
    if event.name == "PostToolUse":
        tiers.reverse()  # the policy decides last what the model sees
    needs_check_per_event = any(hook.once for hook in distinct)
    is_fixed = not needs_check_per_event and not any(hook.condition for hook in distinct)
    rounds = _rounds(tiers[0]) if is_fixed and len(tiers) == 1 and not tiers[0].is_mixed else ()
    watchers = tuple(hook for hook in distinct if hook.runs_later)
    keeps_call = event.name == "PreToolUse" and any(getattr(hook.handler, "batches", False) for hook in watchers)
    return Pick(tuple(distinct), tuple(tiers), watchers, keeps_call, needs_check_per_event, rounds)


def _rounds(tier: Tier) -> tuple[tuple[str, tuple[Hook, ...]], ...]:
    in_turn = tuple(("turn" if tier.is_sequential else "rewrite", turn) for turn in tier.turns)
    return (*in_turn, ("judge", tier.others)) if tier.others else in_turn


def _tier(hooks: list[Hook], is_policy: bool, event: Event, is_sequential: bool) -> Tier | None:
    if not hooks:
        return None
    in_turn = rewrite_order([hook for hook in hooks if is_sequential or hook.role == "rewrites"], event)
    others = tuple(hook for hook in hooks if hook not in in_turn)
    roles = {hook.role for hook in others}
    return Tier(is_policy, others, {None, "judges"} <= roles, tuple((hook,) for hook in in_turn), is_sequential)


def rewrite_order(hooks: Sequence[Hook], event: Event) -> tuple[Hook, ...]:
    """Return execution order; on PostToolUse lower scopes first, so that the higher scope's rewrite stays."""
    if event.name != "PostToolUse":
        return tuple(hooks)
    return tuple(sorted(hooks, key=lambda hook: -hook.scope))


def _distinct(hooks: list[Hook]) -> list[Hook]:
    """Drop duplicates in each tier; the first one stays, so that a lower scope cannot weaken it."""
    first: dict[object, Hook] = {}
    for hook in hooks:
        first.setdefault(_likeness(hook), hook)
    return list(first.values())


def _likeness(hook: Hook) -> object:
    """Return what two hooks must share for one run to stand for both: everything that can change the decision."""
    where = (hook.scope is Scope.POLICY, hook.runs_later, hook.session_id)
    return (*where, hook.handler.identity, hook.condition, hook.role, hook.failure_policy, hook.exit_code_mode)
