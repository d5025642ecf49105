"""
Return the command that the guard denied last.

There is no operation that allows it; only `snell allow` at a terminal does (`packs/guard/one_time_allow.py`).
"""

from collections.abc import Mapping
from typing import Any

from snell.packs.guard.one_time_allow import last_denied
from snell.runtime.app import Runtime


def last_denied_command(runtime: Runtime, arguments: Mapping[str, Any], env: Mapping[str, str]) -> dict[str, Any]:
    return dict(last_denied(runtime.store) or {})


COMMANDS = {"guard.denied": last_denied_command}
