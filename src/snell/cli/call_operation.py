"""Ask the house something: the daemon when one is running, since it knows more; else a house of our own."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from snell.daemon.client import NoDaemonError, ask
from snell.model.errors import SnellError
from snell.system.paths import Places, places

_TOLD = ("AGENT_", "CLAUDE_PLUGIN", "SNELL_SUPERVISOR")  # of the environment: who asks, and from which window


def call_operation(command: str, arguments: Mapping[str, Any] | None = None) -> Any:
    """The answer to a remote call such as `effort.start`. Raises SnellError."""
    env = {name: os.environ[name] for name in os.environ if name.startswith(_TOLD)}
    env["CWD"] = os.getcwd()
    _require_text([arguments, env])
    where = places(os.environ)
    try:
        return ask(where.run, command, arguments, env)
    except NoDaemonError:
        if not _has_team(where):
            return _answered_here(command, arguments or {}, env)
    from snell.cli.commands.daemon import ensure_started

    ensure_started(where.run)  # what other machines did is known to a daemon only
    return ask(where.run, command, arguments, env)


def _require_text(given: Any) -> None:
    """Bytes that are no text come from the command line as halves of characters, which nobody can send."""
    try:
        json.dumps(given, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        shown = error.object[error.start : error.end].encode("utf-8", "backslashreplace").decode()
        raise SnellError(f"`{shown}` in what was given is not text", advice="write it in UTF-8") from None


def _has_team(where: Places) -> bool:
    from snell.settings.load import load

    return bool(load(where, Path("/"), os.environ).value("database"))


def _answered_here(command: str, arguments: Mapping[str, Any], env: Mapping[str, str]) -> Any:
    from snell.operations import call_for
    from snell.runtime.app import Runtime

    with Runtime.for_user() as runtime:
        call = call_for(command, runtime)
        if call is None:
            raise SnellError(f"there is no command `{command}`")
        return call(arguments, env)
