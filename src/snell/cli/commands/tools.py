"""Learn the input schemas of MCP tools from their servers: only on request, never while an agent waits."""

import argparse
import os
import shlex
from pathlib import Path
from typing import Any

import msgspec

from snell.cli.confirmation import confirm, require_person
from snell.cli.table import plural
from snell.model.errors import SnellError
from snell.redact import redact
from snell.setup.client_mcp_servers import ConfiguredServer
from snell.setup.learn_tool_schemas import configured_servers, learn
from snell.system.mcp_tool_schemas import LearnedServer, all_learned, forget
from snell.system.paths import places

EXAMPLE = "snell tools learn"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "what", choices=["learn", "list", "forget"], help="`learn` starts the servers and reads their schemas"
    )
    parser.add_argument("server", nargs="?", default="", help="only this server (default: all)")
    parser.add_argument("--client", default="", help="for `learn`: only servers of this client (default: of all)")
    parser.add_argument("--seconds", type=float, default=30.0, help="for `learn`: the time limit per server")
    parser.add_argument("--yes", action="store_true", help="for `learn`: start the servers without asking")
    parser.add_argument("--json", action="store_true", help="for `list`: print the complete schemas")


def run(args: argparse.Namespace) -> int:
    if args.what == "list":
        return _list(args)
    require_person(os.environ, f"`snell tools {args.what}`")
    if args.what == "forget":
        print(f"deleted the schemas of {plural(forget(places(os.environ).state, args.server), 'server')}")
        return 0
    servers = [
        each for each in configured_servers(os.environ, Path.cwd(), args.client) if args.server in ("", each.name)
    ]
    if not servers:
        raise SnellError(
            "no MCP server is configured",
            advice="for the servers of a project, run `snell trust` in it first",
        )
    for each in servers:
        print(f"{each.client}: {each.name}: {_address(each)}")
    if not args.yes and not confirm("Start these servers and read their tool schemas?"):
        raise SnellError("no server was started", advice="confirm, or use --yes")
    return _learn(servers, args.seconds)


def _learn(servers: list[ConfiguredServer], seconds: float) -> int:
    has_failed = False
    for asked in learn(os.environ, servers, seconds):
        has_failed |= bool(asked.problem)
        print(f"{asked.server.client}: {asked.server.name}: {asked.problem or f'{asked.tools} tools'}")
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
            print(f"  mcp__{row.name}__{name}: {_list_required(tool.schema)}{_hints(row, name)}")
    if not rows:
        print("no schemas yet; run `snell tools learn`")
    return 0


def _list_required(schema: Any) -> str:
    names = schema.get("required")
    return f"requires {', '.join(map(str, names))}" if isinstance(names, list) and names else "no required arguments"


def _hints(row: LearnedServer, name: str) -> str:
    hints = [hint for hint, value in row.tools[name].hints.items() if value is True]
    return f" ({', '.join(hints)})" if hints else ""


def _address(each: ConfiguredServer) -> str:
    return redact(each.server.url or shlex.join((each.server.command, *each.server.args)))
