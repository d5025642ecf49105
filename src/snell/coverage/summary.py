"""The last report in one small file, for the status line, the start of a session and `snell doctor`."""

from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from snell.coverage.output import total_of
from snell.coverage.report import ClientReport, ReportScope
from snell.system.files import struct_or_none, write_atomically
from snell.system.paths import make_private

NAME = "coverage.json"
LARGEST = 1_000_000


class Summary(Struct, frozen=True, kw_only=True):
    at: int = 0  # milliseconds since 1970
    since: int = 0
    holes: int = 0
    text: str = ""


def keep_summary(state: Path, reports: Sequence[ClientReport], asked: ReportScope) -> None:
    holes = sum(len(each.holes) for each in reports)
    summary = Summary(at=asked.now, since=asked.since, holes=holes, text=total_of(reports))
    make_private(state)
    write_atomically(state / NAME, msgspec.json.encode(summary))


def last_summary(state: Path) -> Summary | None:
    return struct_or_none(state / NAME, Summary, LARGEST)
