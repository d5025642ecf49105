"""The command `snell ui`: serve the page until it is closed, and open it in the user's browser."""

import argparse
import os
import sys

from snell.cli.confirmation import is_agent
from snell.model.errors import SnellError
from snell.runtime.app import database_of
from snell.runtime.database_journal import StoreJournal
from snell.system.optional_packages import install_advice, missing_message
from snell.system.paths import places


def run(args: argparse.Namespace) -> int:
    try:
        from snell.ui.server import PageServer
    except ImportError as error:
        if str(error.name).startswith("snell"):
            raise
        raise SnellError(f"the page cannot be shown: {missing_message('ui')}", advice=install_advice("ui")) from None
    if not 0 <= args.port <= 65535:
        raise SnellError("--port must be between 0 and 65535", where=f"`{args.port}`")
    env, where = dict(os.environ), places(os.environ)
    database = database_of(where)
    StoreJournal(database).take_in()  # what a killed process left; from here on the database is only read
    database.close()
    server = PageServer(where, env, port=args.port, is_person=not is_agent(env))
    print(f"Open {server.link}")
    print("The link works once. The page ends when you close it, or with Ctrl-C here.", flush=True)
    if not args.no_open and sys.stdout.isatty():
        open_in_browser(server.link)
    server.serve()
    return 0


def open_in_browser(link: str) -> None:
    """Open the link where there is a screen; a browser in the terminal would hide the link."""
    if sys.platform == "darwin" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        import webbrowser

        webbrowser.open(link)
