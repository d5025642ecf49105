"""Look up what git knows of a folder: whether it tracks files there, and whether it can give all of them back."""

import os

from snell.packs.guard.file_lookups import mark_unrepeatable
from snell.system.git_index import read_index, tracks_below
from snell.system.git_readonly import gives_back

LIMIT = 0.2  # seconds for git's answers


def git_gives_back(folder: str) -> bool:
    """Tell whether deleting this folder loses nothing, because git has all of it."""
    mark_unrepeatable()
    return os.path.isdir(folder) and not os.path.islink(folder) and gives_back(folder, LIMIT)


def is_tracked(folder: str, project: str) -> bool:
    """Tell whether git tracks at least one file below this folder."""
    known = mark_unrepeatable()
    if project not in known:  # it may be large, and a line may name many folders
        known[project] = read_index(project)
    return tracks_below(folder, project, known[project])
