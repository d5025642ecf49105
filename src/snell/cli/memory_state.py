"""Whether memory is on in a folder."""

from collections.abc import Mapping
from pathlib import Path

from snell.settings.load import load
from snell.setup.status import remember_settings
from snell.system.paths import Places


def is_on(where: Places, cwd: Path, env: Mapping[str, str]) -> bool:
    """Return whether sessions in this folder are captured."""
    settings = remember_settings(load(where, cwd, env))
    return settings.get("enabled") is True and settings.get("capture", True) is True
