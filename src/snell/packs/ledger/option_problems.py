"""Check the options of this pack."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from snell.model.errors import SettingsError
from snell.packs.ledger.policies import read_rules


def option_problems(options: Mapping[str, Any]) -> list[str]:
    """Return what is wrong with the options, one sentence each."""
    return [problem for path in options.get("policies", ()) if (problem := _problem(path))]


def _problem(path: Any) -> str:
    if not isinstance(path, str):
        return "`policies` contains an entry that is not a path"
    try:
        read_rules(Path(os.path.expanduser(path)))
    except SettingsError as error:
        return str(error)
    return ""
