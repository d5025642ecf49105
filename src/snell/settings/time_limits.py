"""How long a declared hook may run."""

from collections.abc import Mapping
from typing import Any

from snell.model.hooks import ASYNC_TIMEOUT, LONGEST_TIMEOUT
from snell.settings.handler_rows import HandlerPart
from snell.settings.parse_types import Entry, Reading

RECOMMENDED_FOR_COMMANDS = 60.0
LOOKS_LIKE_MILLISECONDS = 1000.0

# Claude Code lets a person wait no longer than this, whatever the handler.
CLIENT_DEFAULTS = {"UserPromptSubmit": 30.0, "PreModelSwitch": 30.0, "PostModelSwitch": 30.0, "MessageDisplay": 10.0}

_SPELLINGS = ("timeout", "timeout_sec", "timeout_ms")


def time_limit(
    values: Mapping[str, Any],
    lines: Mapping[str, int],
    part: HandlerPart,
    event: str,
    entry: Entry,
    reading: Reading,
) -> float:
    """Seconds; what is declared, cut at the cap, or the default of the handler."""
    given = [name for name in _SPELLINGS if name in values]
    if not given:
        usual = CLIENT_DEFAULTS.get(event) if entry.is_client_form else None
        return min(usual, part.row.timeout) if usual else part.row.timeout
    name = given[0]
    seconds = float(values[name]) / (1000 if name == "timeout_ms" else 1)
    _lint(name, seconds, lines.get(name, entry.line), part, reading)
    return min(seconds, LONGEST_TIMEOUT)


def async_limit(values: Mapping[str, Any]) -> float:
    """Seconds; the key counts milliseconds."""
    return min(values["async_timeout"] / 1000, LONGEST_TIMEOUT) if "async_timeout" in values else ASYNC_TIMEOUT


def too_many_limits(values: Mapping[str, Any]) -> list[str]:
    """The spellings of the time limit, when there is more than one."""
    given = [name for name in _SPELLINGS if name in values]
    return given if len(given) > 1 else []


def _lint(name: str, seconds: float, line: int, part: HandlerPart, reading: Reading) -> None:
    if seconds >= LOOKS_LIKE_MILLISECONDS and name != "timeout_ms":
        message = f"`{name}` counts seconds, and {seconds:.0f} are cut to {LONGEST_TIMEOUT:.0f}"
        reading.complain(line, message, f"timeout_ms = {seconds:.0f} would be milliseconds", "warning")
    elif seconds > LONGEST_TIMEOUT:
        message = f"`{name}` is above the cap of {LONGEST_TIMEOUT:.0f} s, which holds instead"
        reading.complain(line, message, "lower it", "warning")
    elif part.row.name == "command" and seconds > RECOMMENDED_FOR_COMMANDS:
        message = f"`{name}` lets the agent wait {seconds:.0f} s for a command"
        reading.complain(line, message, f"{RECOMMENDED_FOR_COMMANDS:.0f} s or less is recommended", "hint")
