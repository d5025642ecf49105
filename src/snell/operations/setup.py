"""Show how a client is set up. Writing it needs a person at a terminal."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from snell.runtime.app import Runtime
from snell.setup.plan import Site, generate


def show(runtime: Runtime, arguments: Mapping[str, Any], env: Mapping[str, str]) -> dict[str, Any]:
    """Return a client's set-up as data. Arguments: client, include_session_start, include_mcp_config."""
    site = Site.here(runtime.env, Path(env.get("CWD") or "/"))
    wanted = {name: arguments.get(name, True) for name in ("include_session_start", "include_mcp_config")}
    found = generate(arguments.get("client", "claude-code"), site=site, **wanted)
    how = f"a person runs `snell setup {found['client']}` in a terminal; an agent cannot"
    return {**to_builtins(found), "how": how}


COMMANDS = {"setup.show": show}
