"""
Read what the policy of the machine allows without a person, for image builds and provisioning.

Only the machine's own file counts, if only an administrator can write it: a file that a variable names could be any.
"""

import os
from collections.abc import Collection, Mapping
from pathlib import Path

from snell.model.hooks import Scope
from snell.settings.locate import SettingsFile
from snell.settings.parse import read_file
from snell.system.files import stat_or_none
from snell.system.paths import POLICY_FILE

_OTHERS_WRITE = 0o022


def policy_allows(wanted: Mapping[str, Collection[object]], file: Path = POLICY_FILE) -> bool:
    """Return whether the policy has all the wanted values in its settings of these names."""
    if not any(wanted.values()) or not all(map(_is_administrators, (file, file.parent))):
        return False
    parsed = read_file(SettingsFile(file, "policy", Scope.POLICY))
    values = {each.name: each.value if isinstance(each.value, list | tuple) else [each.value] for each in parsed.values}
    return all(set(each) <= set(values.get(name, ())) for name, each in wanted.items())


def _is_administrators(path: Path) -> bool:
    found = stat_or_none(path)
    return found is not None and found.st_uid == 0 and not found.st_mode & _OTHERS_WRITE and not os.path.islink(path)
