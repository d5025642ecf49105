"""The MCP server that clients are told to start: it needs a library that not every installation has."""

from importlib.util import find_spec

from snell.model.errors import SnellError
from snell.model.installs import SCOPES, FileEdit, Install, SetupScope
from snell.runtime.install import Site, planned_mcp
from snell.runtime.install_files import planned
from snell.runtime.install_forms import MCP_PURPOSE
from snell.settings.edits import taken_out

MCP_MISSING = "the `mcp` extra is not installed"
MCP_ADVICE = "run `pip install 'snell[mcp]'`"


def has_mcp() -> bool:
    return find_spec("mcp") is not None


def names_mcp(file: FileEdit) -> bool:
    """Is a server put into this file, whatever else is?"""
    return MCP_PURPOSE in file.purpose


def names_our_server(install: Install, site: Site) -> bool:
    """Does a file of this client, at any scope, have our server in it?"""
    return any(_names_it(install, scope, site) for scope in SCOPES)


def _names_it(install: Install, scope: SetupScope, site: Site) -> bool:
    file = planned_mcp(install, scope, site)
    try:
        before = planned(file).before if file else None
        return file is not None and before is not None and taken_out(before, file) != before
    except SnellError:
        return False  # a file that cannot be edited is told of by itself
