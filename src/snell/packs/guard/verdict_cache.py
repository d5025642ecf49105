"""Cache judgements: agents run the same lines again and again, and a look into the cache is cheaper than judging."""

from collections import OrderedDict

from msgspec import Struct

from snell.packs.guard.file_lookups import Lookups
from snell.packs.guard.judge import Judgement, judge
from snell.packs.guard.known_values import Value
from snell.packs.guard.path_classes import Workspace
from snell.packs.guard.rules import UNREADABLE
from snell.packs.guard.snell_paths import SnellPaths

MOST = 256
LONGEST_LINE = 2_000

Key = tuple[str, str, str, str, bool]


class _Entry(Struct, frozen=True):
    judgement: Judgement
    files: dict[str, Value]
    snell_paths: SnellPaths  # not in the key, because a hash of them takes longer than all the rest
    lookups: Lookups

    def is_current(self, files: dict[str, Value], snell_paths: SnellPaths) -> bool:
        is_same = self.snell_paths is snell_paths or self.snell_paths == snell_paths
        return is_same and self.files == files and self.lookups.are_current()


_cache: OrderedDict[Key, _Entry] = OrderedDict()


def cached_judgement(
    line: str, workspace: Workspace, files: dict[str, Value], *, is_powershell: bool = False
) -> Judgement:
    """Return what `judge` returns, from the cache while every file it looked at is unchanged."""
    key = (line, workspace.cwd, workspace.home, workspace.project, is_powershell)
    entry = _cache.get(key)
    if entry and entry.is_current(files, workspace.snell_paths):
        return entry.judgement
    with Lookups() as lookups:
        where = (workspace.cwd, workspace.home, workspace.project)
        paths, look_up = workspace.snell_paths, workspace.look_up
        judgement = judge(line, *where, files, paths, is_powershell=is_powershell, look_up=look_up)
    gave_up = UNREADABLE.name in [finding.rule for finding in judgement.findings]  # perhaps as this machine was busy
    if lookups.are_complete and len(line) <= LONGEST_LINE and not gave_up:
        _cache[key] = _Entry(judgement, files, workspace.snell_paths, lookups)
        if len(_cache) > MOST:
            _cache.popitem(last=False)
    else:
        _cache.pop(key, None)
    return judgement
