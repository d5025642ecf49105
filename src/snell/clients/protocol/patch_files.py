"""The files that a patch in the `*** Begin Patch` form touches."""

import re

_FILE = re.compile(r"^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+?)\s*$", re.MULTILINE)


def files_in_patch(patch: str) -> list[str]:
    """In the order of the patch, each once."""
    return list(dict.fromkeys(_FILE.findall(patch)))
