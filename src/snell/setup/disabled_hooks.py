"""Hooks that are installed and yet never run, because the client was told so: read only, and said."""

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from snell.model.installs import Install, Switch
from snell.settings.problems import InvalidValueError
from snell.setup.edit_json import JsonText
from snell.setup.plan import LONGEST_FILE, Site, expand_path
from snell.system.files import FileError, read_capped


def disabled_hooks(install: Install, site: Site) -> str:
    """Which setting keeps this client from running our hooks, and where it stands; empty = none that we know of."""
    return next((said for switch in install.switches if (said := _said(switch, install, site))), "")


def _said(switch: Switch, install: Install, site: Site) -> str:
    """The first file that has the setting decides, as it does for the client."""
    for path in _files(switch, install, site):
        found = _at(_values(path), switch.at)
        if found is None:
            continue
        is_off = switch.off in found if isinstance(found, list) else found == switch.off
        return f"`{'.'.join(switch.at)}` in `{path}`" if is_off else ""
    return ""


def _files(switch: Switch, install: Install, site: Site) -> Iterator[Path]:
    for name in switch.files:
        path = Path(expand_path(install, name, site))
        yield from sorted(path.parent.glob(path.name), reverse=True) if "*" in path.name else (path,)


def _values(path: Path) -> Any:
    """A file that cannot be read switches nothing off here; whoever edits it complains about it."""
    try:
        text = read_capped(path, LONGEST_FILE).decode("utf-8-sig")
        return tomllib.loads(text) if path.suffix == ".toml" else JsonText(text, comments=True).root.value
    except (OSError, FileError, InvalidValueError, ValueError):
        return None


def _at(values: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        values = values.get(name) if isinstance(values, Mapping) else None
    return values
