"""What MCP tools take, as their servers say: learned when a person asks for it, never while an agent waits."""

import argparse
import os
import shlex
from pathlib import Path
from typing import Any

import msgspec

from snell.cli.confirmation import confirm, require_person
from snell.model.errors import SnellError
from snell.redact import redact
from snell.setup.client_mcp_servers import Configured
from snell.setup.learn_tool_schemas import configured_servers, learn
from snell.system.mcp_tool_schemas import LearnedServer, all_learned, forget
from snell.system.paths import places

EXAMPLE = "snell tools learn"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", choices=["learn", "list", "forget"])
    parser.add_argument("server", nargs="?", default="", help="only the server of this name")
    parser.add_argument("--client", default="", help="of `learn`: only the servers of this client (default: of all)")
    parser.add_argument("--seconds", type=float, default=30.0, help="of `learn`: how long each server may take")
    parser.add_argument("--yes", action="store_true", help="of `learn`: start the servers without asking")
    parser.add_argument("--json", action="store_true", help="of `list`: print everything that is known")


def run(args: argparse.Namespace) -> int:
    if args.what == "list":
        return _list(args)
    require_person(os.environ, f"`snell tools {args.what}`")
    if args.what == "forget":
        print(f"forgot what {forget(places(os.environ).state, args.server)} servers said")
        return 0
    servers = [
        each for each in configured_servers(os.environ, Path.cwd(), args.client) if args.server in ("", each.name)
    ]
    if not servers:
        raise SnellError(
            "no MCP server is configured that could be asked",
            advice="servers of a project count once `snell trust` was run in it",
        )
    for each in servers:
        print(f"{each.client}: {each.name}: {_how(each)}")
    if not args.yes and not confirm("Start these servers, and ask each what its tools take?"):
        raise SnellError("nothing was started", advice="say yes, or give --yes")
    return _learned(servers, args.seconds)


def _learned(servers: list[Configured], seconds: float) -> int:
    has_failed = False
    for asked in learn(os.environ, servers, seconds):
        has_failed |= bool(asked.problem)
        said = asked.problem or f"{asked.tools} tools"
        print(f"{asked.server.client}: {asked.server.name}: {said}")
    return int(has_failed)


def _list(args: argparse.Namespace) -> int:
    rows = [each for each in all_learned(places(os.environ).state) if args.server in ("", each.name)]
    if args.json:
        print(msgspec.json.format(msgspec.json.encode(rows), indent=2).decode())
        return 0
    for row in rows:
        where = f" in {row.project}" if row.project else ""
        print(f"{row.client}: {row.name}{where}")
        for name, tool in row.tools.items():
            print(f"  mcp__{row.name}__{name}: {_needs(tool.schema)}{_says(row, name)}")
    if not rows:
        print("nothing was learned yet: `snell tools learn`")
    return 0


def _needs(schema: Any) -> str:
    required = schema.get("required")
    return f"needs {', '.join(map(str, required))}" if isinstance(required, list) and required else "needs nothing"


def _says(row: LearnedServer, name: str) -> str:
    hints = [hint for hint, value in row.tools[name].hints.items() if value is True]
    return f" ({', '.join(hints)})" if hints else ""


def _how(each: Configured) -> str:
    return redact(each.server.url or shlex.join((each.server.command, *each.server.args)))
