"""Call an operation: in the daemon when one is running, else in a runtime of this process."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from snell.daemon.client import NoDaemonError, ask
from snell.model.errors import SnellError
from snell.system.paths import Places, places

# Variables of the environment that identify the calling agent and its session.
_PASSED_ON = ("AGENT_", "CLAUDE_PLUGIN", "SNELL_SUPERVISOR")


def call_operation(command: str, arguments: Mapping[str, Any] | None = None) -> Any:
    """Return the result of an operation such as `effort.start`. Raises SnellError."""
    env = {name: os.environ[name] for name in os.environ if name.startswith(_PASSED_ON)}
    env["CWD"] = os.getcwd()
    # Python passes bytes that are not UTF-8 as surrogates, which cannot be sent.
    try:
        json.dumps([arguments, env], ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        shown = error.object[error.start : error.end].encode("utf-8", "backslashreplace").decode()
        raise SnellError(f"an argument contains `{shown}`, which is not UTF-8", advice="write it in UTF-8") from None
    where = places(os.environ)
    try:
        return ask(where.run, command, arguments, env)
    except NoDaemonError:
        from snell.settings.load import load

        if not load(where, Path("/"), os.environ).value("database"):
            result = _call_in_this_process(command, arguments or {}, env)
            if command == "agent.status" and result["pane"]:
                _start_daemon(where)  # it shows the status in tmux
            return result
    _start_daemon(where)  # only the daemon knows what other machines did
    return ask(where.run, command, arguments, env)


def _start_daemon(where: Places) -> None:
    from snell.cli.daemon_process import ensure_started

    ensure_started(where.run)


def _call_in_this_process(command: str, arguments: Mapping[str, Any], env: Mapping[str, str]) -> Any:
    from snell.operations import call_for
    from snell.runtime.app import Runtime

    with Runtime.for_user() as runtime:
        call = call_for(command, runtime)
        if call is None:
            raise SnellError(f"unknown command `{command}`")
        return call(arguments, env)
