"""Metrics: cumulative since the exporter was started, by event, client and verdict."""

import time
from bisect import bisect_left
from collections import Counter, defaultdict

from snell.records.decisions import Row
from snell.traces.otlp import Table, attributes

SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 30.0)
MOST_SERIES = 500  # combinations of event, client and verdict; further ones are counted as `other`
_CUMULATIVE = 2
Series = tuple[str, str, str]


class Metrics:
    def __init__(self) -> None:
        self._since = time.time_ns()
        self._sums: dict[str, Counter[Series]] = defaultdict(Counter)
        self._buckets: dict[Series, list[int]] = {}
        self._seconds: dict[Series, float] = defaultdict(float)
        self.has_news = False

    def count(self, row: Row) -> None:
        """Count one decision."""
        series = (row.event, row.client, row.verdict)
        if series not in self._buckets and len(self._buckets) >= MOST_SERIES:
            series = ("other", "other", row.verdict)
        self._sums["snell.decisions"][series] += 1
        self._sums["snell.asks"][series] += row.verdict in ("ask", "defer")
        self._sums["snell.hook.failures"][series] += row.failures
        buckets = self._buckets.setdefault(series, [0] * (len(SECONDS) + 1))
        buckets[bisect_left(SECONDS, row.ms / 1000)] += 1
        self._seconds[series] += row.ms / 1000
        self.has_news = True

    def messages(self) -> list[Table]:
        """Return all metrics as OTLP has them."""
        found = []
        for name, counts in self._sums.items():
            points = [{"as_int": number, **self._point(of)} for of, number in counts.items()]
            of_name = {"data_points": points, "is_monotonic": True, "aggregation_temporality": _CUMULATIVE}
            found.append({"name": name, "unit": "1", "sum": of_name})
        points = [
            {"count": sum(each), "sum": self._seconds[of], "bucket_counts": each, "explicit_bounds": SECONDS}
            | self._point(of)
            for of, each in self._buckets.items()
        ]
        histogram = {"data_points": points, "aggregation_temporality": _CUMULATIVE}
        return [*found, {"name": "snell.decision.duration", "unit": "s", "histogram": histogram}]

    def _point(self, series: Series) -> Table:
        names = ("snell.event", "snell.client", "snell.verdict")
        times = {"start_time_unix_nano": self._since, "time_unix_nano": time.time_ns()}
        return {**times, "attributes": attributes(dict(zip(names, series, strict=True)))}
