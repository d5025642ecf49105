"""The MCP server that clients are told to start: it needs a library that not every installation has."""

from snell.model.errors import SnellError
from snell.model.installs import SCOPES, FileEdit, Install, SetupScope
from snell.setup.apply_edits import taken_out
from snell.setup.config_formats import MCP_PURPOSE
from snell.setup.file_changes import plan_change
from snell.setup.plan import Site, planned_mcp
from snell.system.optional_packages import install_advice, is_installed, missing_message

MCP_MISSING = missing_message("mcp")


def has_mcp() -> bool:
    return is_installed("mcp")


def mcp_advice() -> str:
    return install_advice("mcp")


def names_mcp(file: FileEdit) -> bool:
    """Is a server put into this file, whatever else is?"""
    return MCP_PURPOSE in file.purpose


def names_our_server(install: Install, site: Site) -> bool:
    """Does a file of this client, at any scope, have our server in it?"""
    return any(_names_it(install, scope, site) for scope in SCOPES)


def _names_it(install: Install, scope: SetupScope, site: Site) -> bool:
    file = planned_mcp(install, scope, site)
    try:
        before = plan_change(file).before if file else None
        return file is not None and before is not None and taken_out(before, file) != before
    except SnellError:
        return False  # a file that cannot be edited is told of by itself
