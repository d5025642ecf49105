"""Judgements that are remembered: agents run the same lines again and again, and judging costs more than looking."""

from __future__ import annotations

from collections import OrderedDict

from msgspec import Struct

from snell.packs.guard.file_lookups import Lookups, record_lookups
from snell.packs.guard.judge import Judgement, judge
from snell.packs.guard.known_values import Value
from snell.packs.guard.rules import UNREADABLE
from snell.packs.guard.snell_paths import SnellPaths

MOST = 256
LONGEST_LINE = 2_000

Key = tuple[str, str, str, str, SnellPaths]


class _Known(Struct, frozen=True):
    judgement: Judgement
    files: dict[str, Value]
    noted: Lookups

    def holds(self, files: dict[str, Value]) -> bool:
        return self.files == files and self.noted.holds()


_known: OrderedDict[Key, _Known] = OrderedDict()


def cached_judgement(
    line: str, cwd: str, home: str, project: str, files: dict[str, Value], snell_paths: SnellPaths
) -> Judgement:
    """As `judge` says it; from memory while all that it looked at is as it was."""
    key = (line, cwd, home, project, snell_paths)
    known = _known.get(key)
    if known and known.holds(files):
        return known.judgement
    with record_lookups() as noted:
        judgement = judge(line, cwd, home, project, files, snell_paths)
    if noted.is_all and len(line) <= LONGEST_LINE and not _ran_out(judgement):
        _known[key] = _Known(judgement, files, noted)
        if len(_known) > MOST:
            _known.popitem(last=False)
    else:
        _known.pop(key, None)
    return judgement


def _ran_out(judgement: Judgement) -> bool:
    """Perhaps only because this machine was busy."""
    return any(finding.rule == UNREADABLE.name for finding in judgement.findings)
