"""Let an unreadable policy block: each unreadable part of it becomes a hook that always fails."""

from collections.abc import Iterator, Sequence

from snell.engine.match import compile_matcher
from snell.model.catalogue import CATALOGUE, NEVER_BLOCKED_BY_FAILURE, canonical, row_of
from snell.model.errors import PatternError
from snell.model.hooks import Broken, Hook, Scope, Source
from snell.settings.parse_types import Fault


def failing_hooks(faults: Sequence[Fault], file: str, layer: str = "policy") -> list[Hook]:
    """Return failing hooks in place of unreadable entries; outside of the policy, of those that block or ask."""
    if layer != "policy":
        closed = [fault for fault in faults if fault.definition.get("on_failure") in ("ask", "block")]
        faults = [fault for fault in closed if fault.is_file or _event(fault)]
    anywhere = [fault for fault in faults if not _event(fault)][:1]  # one hook that blocks everything is enough
    known = [fault for fault in faults if _event(fault)]
    return [hook for number, fault in enumerate(anywhere + known, 1) for hook in _hooks(fault, file, number, layer)]


def _hooks(fault: Fault, file: str, number: int, layer: str) -> Iterator[Hook]:
    if fault.definition.get("enabled") is False:
        return
    known = _event(fault)
    for each in [known] if known else _DENIABLE:
        pattern, kind = _matcher(fault, each) if known else (None, None)
        yield Hook(
            id=f"{layer}-unreadable-{number}-{each}",
            event=each,
            handler=Broken(fault.reason),
            scope=Scope.POLICY if layer == "policy" else Scope.SESSION,
            role=fault.definition.get("role") or "judges",  # one that only watches or informs does not block
            matcher=pattern,
            matcher_type=kind,
            on_failure=fault.definition.get("on_failure"),
            source=Source(layer, file, fault.line),
        )


def _event(fault: Fault) -> str:
    event = canonical(fault.event)
    return event if event in CATALOGUE else ""


_DENIABLE = tuple(name for name, row in CATALOGUE.items() if "deny" in row.can and name not in NEVER_BLOCKED_BY_FAILURE)


def _matcher(fault: Fault, event: str) -> tuple[str | None, str | None]:
    """Return the entry's own matcher if it could be read; else none, which matches everything."""
    found = fault.definition.get("matcher")
    if not isinstance(found, tuple) or not row_of(event).matches:
        return None, None
    pattern, kind = found
    kind = fault.definition.get("matcher_type", kind)
    try:
        compile_matcher(pattern, kind, row_of(event))
    except PatternError:
        return None, None
    return pattern or None, kind
