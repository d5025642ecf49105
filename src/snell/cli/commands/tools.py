"""Learn the input schemas of MCP tools from their servers: only on request, never while an agent waits."""

import argparse
import os
import shlex
from pathlib import Path
from typing import Any

from snell.cli.confirmation import confirm, require_person
from snell.cli.terminal import plural, print_json
from snell.model.errors import SnellError
from snell.redact import redact
from snell.setup.client_mcp_servers import configured_servers, learn
from snell.system.mcp_tool_schemas import LearnedServer, all_learned, forget
from snell.system.paths import places


def run(args: argparse.Namespace) -> int:
    if args.what == "list":
        return _list(args)
    require_person(os.environ, f"`snell tools {args.what}`", args.code)
    if args.what == "forget":
        print(f"deleted the schemas of {plural(forget(places(os.environ).state, args.server), 'server')}")
        return 0
    found = configured_servers(os.environ, Path.cwd(), args.client)
    servers = [each for each in found if args.server in ("", each.name)]
    if not servers:
        advice = "for the servers of a project, run `snell trust` in it first"
        raise SnellError("no MCP server is configured", advice=advice)
    for each in servers:
        address = redact(each.server.url or shlex.join((each.server.command, *each.server.args)))
        print(f"{each.client}: {each.name}: {address}")
    if not args.yes and not confirm("Start these servers and read their tool schemas?"):
        raise SnellError("no server was started", advice="confirm, or use --yes")
    has_failed = False
    for asked in learn(os.environ, servers, args.seconds):
        has_failed |= bool(asked.problem)
        print(f"{asked.server.client}: {asked.server.name}: {asked.problem or f'{asked.tools} tools'}")
    return int(has_failed)


def _list(args: argparse.Namespace) -> int:
    rows = [each for each in all_learned(places(os.environ).state) if args.server in ("", each.name)]
    if args.json:
        print_json(rows, indent=2)
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
