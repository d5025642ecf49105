"""Serve MCP on stdin and stdout. The server runs in the daemon; this process connects the client to it."""

import argparse
import os
import sys
from pathlib import Path

from snell.model.errors import SnellError
from snell.system.optional_packages import install_advice, is_installed, missing_message


def run(args: argparse.Namespace) -> int:
    if not is_installed("mcp"):
        raise SnellError(missing_message("mcp"), advice=install_advice("mcp"))
    hook = Path(sys.executable).with_name("snell-hook")
    if hook.exists():
        os.execv(hook, [str(hook), "--bridge", "mcp"])
    from snell.daemon.shim_bridge import bridge
    from snell.daemon.shim_start import start_alone

    return bridge(b"mcp", start_alone)
