"""Events as a client may send them: with fields left out, of another type, or huge."""

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from snell.model.events import Event

HUGE = 1_000_000  # characters
_NEEDED = ("session_id", "hook_event_name", "cwd", "tool_name")  # without these there is no event for this hook
_OTHER_TYPES: tuple[Any, ...] = (None, 7, ["x"], {"x": None})


def without_a_field(event: Event) -> Iterator[tuple[str, Event]]:
    """Yield the event without each of its fields, with the field's name."""
    for path in _fields(event):
        yield f"without `{'.'.join(path)}`", _change_field(event, path, drop=True)


def with_other_types(event: Event) -> Iterator[tuple[str, Event]]:
    """Yield the event with a value of another type in each field."""
    for path in _fields(event):
        for value in _OTHER_TYPES:
            yield f"with `{'.'.join(path)}` = {value}", _change_field(event, path, value)


def with_huge_texts(event: Event) -> Iterator[tuple[str, Event]]:
    """Yield the event with each text a million characters long."""
    for path in _fields(event):
        old = _at(event, path)
        if isinstance(old, str):
            filler = "x " * ((HUGE - len(old)) // 2)
            yield f"with {HUGE:,} characters in `{'.'.join(path)}`", _change_field(event, path, f"{old} {filler}")


def _fields(event: Event) -> Iterator[tuple[str, ...]]:
    for name, value in event.payload.items():
        if name not in _NEEDED:
            yield (name,)
            yield from ((name, inner) for inner in value) if isinstance(value, dict) else ()


def _at(event: Event, path: tuple[str, ...]) -> Any:
    value: Any = event.payload
    for name in path:
        value = value[name]
    return value


def _change_field(event: Event, path: tuple[str, ...], value: Any = None, *, drop: bool = False) -> Event:
    first, *rest = path
    inner = event.payload[first]
    new = {key: each for key, each in inner.items() if key != rest[0]} if rest else {}
    kept = {key: each for key, each in event.payload.items() if key != first}
    if rest:
        return replace(event, payload={**kept, first: new if drop else {**new, rest[0]: value}})
    return replace(event, payload=kept if drop else {**kept, first: value})
