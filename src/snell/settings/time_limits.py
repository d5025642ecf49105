"""
The time limit of a hook, from the keys of its entry.

The default of each type of handler is in its module, as `default_timeout` in `handlers/webhook.py`.
"""

from collections.abc import Mapping
from typing import Any

from snell.model.catalogue import row_of
from snell.model.hooks import ASYNC_TIMEOUT, LONGEST_TIMEOUT
from snell.settings.handler_types import HandlerType
from snell.settings.parse_types import Entry, ParseState

LOOKS_LIKE_MILLISECONDS = 1000.0

_SPELLINGS = ("timeout", "timeout_sec", "timeout_ms")


def time_limit(
    values: Mapping[str, Any],
    lines: Mapping[str, int],
    handler_type: HandlerType,
    event: str,
    entry: Entry,
    state: ParseState,
) -> float:
    """Return seconds: the declared limit, at most the longest one, or the default of the handler."""
    given = [name for name in _SPELLINGS if name in values]
    default = handler_type.default_timeout
    if not given:
        # Claude Code has a limit for all handlers on some events, so hooks in its format have it too.
        of_client = row_of(event).client_timeout if entry.is_client_form else 0.0
        return min(of_client or default, default)
    name = given[0]
    seconds = float(values[name]) / (1000 if name == "timeout_ms" else 1)
    _lint(name, seconds, lines.get(name, entry.line), handler_type, state)
    return min(seconds, LONGEST_TIMEOUT)


def async_limit(values: Mapping[str, Any]) -> float:
    """Return seconds; the key is in milliseconds."""
    return min(values["async_timeout"] / 1000, LONGEST_TIMEOUT) if "async_timeout" in values else ASYNC_TIMEOUT


def too_many_limits(values: Mapping[str, Any]) -> list[str]:
    """Return the spellings of the time limit when there is more than one."""
    given = [name for name in _SPELLINGS if name in values]
    return given if len(given) > 1 else []


def _lint(name: str, seconds: float, line: int, handler_type: HandlerType, state: ParseState) -> None:
    recommended = handler_type.recommended_timeout
    if seconds >= LOOKS_LIKE_MILLISECONDS and name != "timeout_ms":
        message = f"`{name}` is in seconds, and {seconds:.0f} is above {LONGEST_TIMEOUT:.0f}"
        state.add_problem(line, message, f"write timeout_ms = {seconds:.0f} for milliseconds", "warning")
    elif seconds > LONGEST_TIMEOUT:
        message = f"`{name}` is above the longest limit of {LONGEST_TIMEOUT:.0f} s, which is used instead"
        state.add_problem(line, message, "lower it", "warning")
    elif seconds > recommended:
        message = f"`{name}` lets the agent wait {seconds:.0f} s for a {handler_type.name} hook"
        state.add_problem(line, message, f"{recommended:.0f} s or less is recommended", "hint")
