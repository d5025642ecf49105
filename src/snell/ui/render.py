"""Render templates; every value is escaped, and the filters write times, sizes and bars for people."""

import time
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment, FileSystemLoader
from starlette.responses import HTMLResponse

from snell.cli.terminal import plural

FOLDER = Path(__file__).parent


class Renderer:
    def __init__(self) -> None:
        self._environment = Environment(
            loader=FileSystemLoader(FOLDER / "templates"),
            autoescape=True,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.filters.update(FILTERS)
        self._environment.globals.update(pages=())

    def add_globals(self, **values: Any) -> None:
        self._environment.globals.update(values)

    def answer(self, template: str, values: Mapping[str, Any], status: int = 200) -> HTMLResponse:
        return HTMLResponse(self._environment.get_template(template).render(values), status)

    def message(self, status: int, title: str, text: str) -> HTMLResponse:
        """Return a page that only says something, without anything that a stranger should not see."""
        return self.answer("message.html", {"title": title, "text": text}, status)


def clock(ms: int) -> str:
    """Return the time of day, with the date unless it is today's."""
    when = datetime.fromtimestamp(ms / 1000).astimezone()
    is_today = when.date() == datetime.now().astimezone().date()
    return when.strftime("%H:%M:%S" if is_today else "%b %d %H:%M:%S")


def iso(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000).astimezone().isoformat(timespec="seconds")


def ago(ms: int) -> str:
    """Return how long ago that was, in one unit."""
    passed = max(0, round(time.time() * 1000) - ms)
    return "just now" if passed < 5_000 else f"{span(passed)} ago"


def duration(ms: float) -> str:
    if ms < 10:
        return f"{ms:.1f} ms"
    if ms < 10_000:
        return f"{ms:,.0f} ms"
    if ms < 600_000:
        return f"{ms / 1000:.1f} s"
    return f"{ms / 60_000:.0f} min" if ms < 36_000_000 else f"{ms / 3_600_000:,.1f} h"


def span(ms: float) -> str:
    """Return a length of time in one unit."""
    for length, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second")):
        if ms >= length * 1000:
            return plural(round(ms / 1000 / length), unit)
    return "under a second"


def size(number: float) -> str:
    for unit in ("bytes", "KB", "MB"):
        if number < 1_000:
            return f"{number:,.0f} {unit}" if unit == "bytes" else f"{number:.1f} {unit}"
        number /= 1_000
    return f"{number:,.1f} GB"


def words(text: str) -> str:
    return text.replace("_", " ")


def link(path: str, **query: Any) -> str:
    """Return an address in this site, with a query of what is not empty."""
    given = {name: value for name, value in query.items() if value not in (None, "", 0)}
    return f"{path}?{urlencode(given)}" if given else path


def share(value: float, whole: float) -> float:
    """Return the width of a bar in percent; what is there at all can be seen."""
    return round(max(0.8, min(100.0, 100 * value / whole)), 2) if whole > 0 and value > 0 else 0


FILTERS = {
    "clock": clock,
    "iso": iso,
    "ago": ago,
    "duration": duration,
    "span": span,
    "size": size,
    "words": words,
    "link": link,
    "share": share,
}
