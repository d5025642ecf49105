"""Find settings that keep a client from running hooks although they are installed. Reads files only."""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from snell.model.installs import Install, Switch
from snell.settings.problems import InvalidValueError
from snell.setup.edit_json import JsonText
from snell.setup.edit_toml import value_at
from snell.setup.plan import LONGEST_FILE, Site, expand_path
from snell.system.files import FileError, read_capped


def disabled_hooks(install: Install, site: Site) -> str:
    """Return the setting that disables hooks in this client, and its file; empty if no known one does."""
    return next((found for switch in install.switches if (found := _disabling_setting(switch, install, site))), "")


def _disabling_setting(switch: Switch, install: Install, site: Site) -> str:
    """Return the setting if it is off in the first file that has it: the client reads them in the same order."""
    for path in _files(switch, install, site):
        found = value_at(_values(path), switch.at)
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
    """Return a file's values; None if it cannot be read, which set-up reports when it edits the file."""
    try:
        text = read_capped(path, LONGEST_FILE).decode("utf-8-sig")
        return tomllib.loads(text) if path.suffix == ".toml" else JsonText(text, comments=True).root.value
    except (OSError, FileError, InvalidValueError, ValueError):
        return None
