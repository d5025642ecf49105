"""The part of `snell doctor` about calls that hooks did not see."""

import time
from collections.abc import Iterator

from snell.cli.health import Check, Installation, Status
from snell.conversations.record import duration_ms
from snell.coverage.command import compare
from snell.coverage.output import summary_of
from snell.coverage.report import ReportScope

PERIOD = "7d"


def coverage_checks(installation: Installation) -> Iterator[Check]:
    """Yield one line per client that recorded calls in the last days."""
    if not (installation.where.state / "snell.db").exists():
        return
    now = int(time.time() * 1000)
    for report in compare(ReportScope(since=now - duration_ms(PERIOD), now=now), installation):
        if report.calls or report.remarks:
            details = "; ".join([summary_of(report), *report.remarks, *([report.cause] if report.cause else [])])
            advice = f"`snell coverage --client {report.client.replace('_', '-')}` lists them"
            advice += f"; {report.advice}" if report.advice else ""
            status: Status = "warn" if report.holes or report.remarks else "ok"
            yield Check(f"coverage {report.client.replace('_', '-')}", status, details, advice)
