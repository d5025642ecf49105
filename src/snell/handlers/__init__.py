"""Runners: one file per way of running a hook."""

from collections.abc import Mapping

# What runs each kind of handler row. Kinds that are missing here cannot run yet; their hooks fail, openly.
HANDLERS: Mapping[str, str] = {
    "python": "snell.handlers.python",
    "command": "snell.handlers.command",
}
