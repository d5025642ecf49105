"""Call an operation: in the daemon when one is running, else in a runtime of this process."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from snell.daemon.client import NoDaemonError, ask
from snell.model.errors import SnellError
from snell.system.paths import Places, places

_PASSED_ON = (
    "AGENT_",
    "CLAUDE_PLUGIN",
    "SNELL_SUPERVISOR",
)  # of the environment: they identify the calling agent and its session


def call_operation(command: str, arguments: Mapping[str, Any] | None = None) -> Any:
    """Return the result of an operation such as `effort.start`. Raises SnellError."""
    env = {name: os.environ[name] for name in os.environ if name.startswith(_PASSED_ON)}
    env["CWD"] = os.getcwd()
    _require_text([arguments, env])
    where = places(os.environ)
    try:
        return ask(where.run, command, arguments, env)
    except NoDaemonError:
        if not _has_team(where):
            return _call_in_this_process(command, arguments or {}, env)
    from snell.cli.daemon_process import ensure_started

    ensure_started(where.run)  # only the daemon knows what other machines did
    return ask(where.run, command, arguments, env)


def _require_text(given: Any) -> None:
    """Raise SnellError for bytes that are not UTF-8: Python passes them as surrogates, which cannot be sent."""
    try:
        json.dumps(given, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        shown = error.object[error.start : error.end].encode("utf-8", "backslashreplace").decode()
        raise SnellError(f"an argument contains `{shown}`, which is not UTF-8", advice="write it in UTF-8") from None


def _has_team(where: Places) -> bool:
    from snell.settings.load import load

    return bool(load(where, Path("/"), os.environ).value("database"))


def _call_in_this_process(command: str, arguments: Mapping[str, Any], env: Mapping[str, str]) -> Any:
    from snell.operations import call_for
    from snell.runtime.app import Runtime

    with Runtime.for_user() as runtime:
        call = call_for(command, runtime)
        if call is None:
            raise SnellError(f"unknown command `{command}`")
        return call(arguments, env)
