"""What is wrong with what a user tells this pack."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from snell.model.errors import SettingsError
from snell.packs.ledger.policies import read_rules


def option_problems(options: Mapping[str, Any]) -> list[str]:
    return [wrong for path in options.get("policies", ()) if (wrong := _unreadable(path))]


def _unreadable(path: Any) -> str:
    if not isinstance(path, str):
        return "`policies` holds something that is no path"
    try:
        read_rules(Path(os.path.expanduser(path)))
    except SettingsError as error:
        return str(error)
    return ""
