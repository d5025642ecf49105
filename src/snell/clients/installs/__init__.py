"""
How each client is set up: one module for each, named like the client, with one `INSTALL`.

There is no second registry: a module that stands here is found by its name.
"""

from importlib import import_module
from pathlib import Path

from snell.clients import ALIASES
from snell.model.catalogue import nearest
from snell.model.errors import ClientError
from snell.model.installs import Install


def install_names() -> tuple[str, ...]:
    """Every client that set-up knows, Claude Code first."""
    names = sorted(path.stem for path in Path(__file__).parent.glob("*.py") if not path.stem.startswith("_"))
    return tuple(sorted(names, key=lambda name: (name == "generic", name != "claude_code")))


def install_of(name: str) -> Install:
    """How the client of this name is set up."""
    if name not in install_names():
        known = [each.replace("_", "-") for each in install_names()]
        near = nearest(name, (*known, *ALIASES))
        advice = f"did you mean `{near}`?" if near else f"known are {', '.join(known)}"
        raise ClientError(f"no client `{name}` can be set up", advice=advice)
    found = import_module(f"{__name__}.{name}").INSTALL
    if not isinstance(found, Install):
        raise ClientError(f"the module of `{name}` has no INSTALL", advice="see a neighbour for an example")
    return found
