"""Bar charts: as text for the terminal, and as SVG."""

import unicodedata
from collections.abc import Sequence
from html import escape

from msgspec import Struct

from snell.cli.terminal import Colours, visible

WIDEST, LONGEST_NAME, NOTHING = 40, 34, "nothing yet"
BLOCKS, LETTERS = ("█", "▒", "░"), ("#", "x", "-")  # for calls that succeeded, failed, were denied


Signs = tuple[str, str, str]


class Bar(Struct, frozen=True):
    name: str
    value: float
    failed: float = 0.0  # parts of the value
    denied: float = 0.0
    label: str = ""


class Chart(Struct, frozen=True):
    title: str
    bars: tuple[Bar, ...]
    note: str = ""  # such as how many bars were left out


def terminal_chart(chart: Chart, paint: Colours, width: int = WIDEST, signs: Signs = LETTERS) -> list[str]:
    """Return one line per bar, in which failed and denied calls have signs of their own."""
    names = [shorten_middle(bar.name, LONGEST_NAME) for bar in chart.bars]
    longest = max(map(_columns, names), default=0)
    most = max((bar.value for bar in chart.bars), default=0.0)
    lines = [
        f"  {name}{' ' * (longest - _columns(name))}  {_draw_bar(bar, most, width, paint, signs)} {bar.label}".rstrip()
        for name, bar in zip(names, chart.bars, strict=True)
    ]
    notes = [f"  {text}" for text in (NOTHING if not lines else "", chart.note) if text]
    return [paint.bold(chart.title), *lines, *map(paint.dim, notes)]


def shorten(text: str, longest: int) -> str:
    """Replace control characters and cut the text to a width in terminal columns."""
    clean = visible(text)
    if _columns(clean) <= longest:
        return clean
    while _columns(clean) > longest - 1:
        clean = clean[:-1]
    return f"{clean}…"


def shorten_middle(text: str, longest: int) -> str:
    """Shorten a name in the middle: its start names the tool's server, its end the tool."""
    clean = shorten(text, max(longest, _columns(text)))
    if _columns(clean) <= longest:
        return clean
    first = shorten(clean, longest // 2)
    last = shorten(clean[::-1], longest - longest // 2 + 1)[::-1]
    return f"{first}{last.removeprefix('…')}"


def _draw_bar(bar: Bar, most: float, width: int, paint: Colours, signs: Signs) -> str:
    length = _cells(bar.value, most, width)
    # Even the smallest failed part gets a cell, but never the last one if some calls succeeded.
    room = length - (1 if bar.value > bar.failed + bar.denied else 0)
    failed = min(room, _cells(bar.failed, most, width))
    denied = min(room - failed, _cells(bar.denied, most, width))
    good, bad, refused = signs
    marked = f"{paint.yellow(refused * denied)}{paint.red(bad * failed)}"
    return f"{good * (length - failed - denied)}{marked}{' ' * (width - length)}"


def _cells(value: float, most: float, width: int) -> int:
    return max(1, round(value / most * width)) if value > 0 else 0


def _columns(text: str) -> int:
    """Return the width in terminal columns: wide East Asian characters take two, combining ones none."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )


ROW, TOP, GAP, LEFT, RIGHT, WIDE = 26, 46, 22, 250, 290, 420
_INK, _PALE, _LINE = "#1f2933", "#52606d", "#e4e7eb"
_COLOURS = {"succeeded": "#2f7ed8", "denied": "#e8a33d", "failed": "#d64545"}


def svg_charts(charts: Sequence[Chart]) -> str:
    """Return an SVG image with the charts below each other."""
    parts, y = [], 0
    for chart in charts:
        parts.append(_svg_chart(chart, y))
        y += TOP + ROW * (max(1, len(chart.bars)) + bool(chart.note)) + GAP
    whole = LEFT + WIDE + RIGHT
    titles = ", ".join(chart.title for chart in charts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{whole}" height="{y}" viewBox="0 0 {whole} {y}" role="img"'
        ' font-family="system-ui, -apple-system, Segoe UI, DejaVu Sans, sans-serif" font-size="13">\n'
        f'<title>{escape(titles)}</title>\n<rect width="{whole}" height="{y}" fill="#ffffff"/>\n'
        + "".join(parts)
        + "</svg>\n"
    )


def _svg_chart(chart: Chart, y: int) -> str:
    bottom = y + TOP + ROW * len(chart.bars)
    lines = [
        f'<text x="16" y="{y + 28}" font-size="16" font-weight="600" fill="{_INK}">{_text(chart.title, 60)}</text>\n',
        *(
            f'<line x1="{x}" y1="{y + TOP - 4}" x2="{x}" y2="{bottom}" stroke="{_LINE}"/>\n'
            for x in (LEFT + WIDE * quarter // 4 for quarter in range(5))
            if chart.bars
        ),
    ]
    if any(0 < bar.failed + bar.denied < bar.value for bar in chart.bars):
        lines += [
            f'<rect x="{LEFT + index * 100}" y="{y + 18}" width="11" height="11" rx="2" fill="{colour}"/>\n'
            f'<text x="{LEFT + 17 + index * 100}" y="{y + 28}" fill="{_PALE}">{name}</text>\n'
            for index, (name, colour) in enumerate(_COLOURS.items())
        ]
    most = max((bar.value for bar in chart.bars), default=0.0) or 1.0
    for index, bar in enumerate(chart.bars):
        lines += _svg_bar(bar, most, y + TOP + index * ROW)
    for row, text in enumerate(filter(None, ["" if chart.bars else NOTHING, chart.note])):
        lines.append(f'<text x="{LEFT}" y="{bottom + 17 + row * ROW}" fill="{_PALE}">{_text(text, 60)}</text>\n')
    return "".join(lines)


def _svg_bar(bar: Bar, most: float, top: int) -> list[str]:
    parts = zip(_COLOURS.values(), (bar.value - bar.failed - bar.denied, bar.denied, bar.failed), strict=True)
    name = escape(shorten_middle(bar.name, 30))
    lines = [f'<text x="{LEFT - 10}" y="{top + 15}" text-anchor="end" fill="{_INK}">{name}</text>\n']
    x = float(LEFT)
    for colour, value in parts:
        if value > 0:
            length = max(1.0, value / most * WIDE)
            lines.append(f'<rect x="{x:.1f}" y="{top + 2}" width="{length:.1f}" height="18" fill="{colour}"/>\n')
            x += length
    return [*lines, f'<text x="{x + 8:.1f}" y="{top + 15}" fill="{_PALE}">{_text(bar.label, 42)}</text>\n']


def _text(text: str, longest: int) -> str:
    return escape(shorten(text, longest))
