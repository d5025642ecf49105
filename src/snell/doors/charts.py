"""Bars: in the terminal with plain characters, and as SVG."""

from collections.abc import Sequence
from html import escape

from msgspec import Struct

WIDEST = 40
_BAR, _BAD = "#", "x"


class Bar(Struct, frozen=True):
    name: str
    value: float
    bad: float = 0.0  # the part of the value that went wrong
    label: str = ""


def terminal_chart(title: str, bars: Sequence[Bar], width: int = WIDEST) -> list[str]:
    """One line for each bar; what went wrong is drawn as `x`."""
    longest = max((len(bar.name) for bar in bars), default=0)
    most = max((bar.value for bar in bars), default=0.0)
    return [title, *(f"  {bar.name:<{longest}}  {_drawn(bar, most, width)} {bar.label}".rstrip() for bar in bars)]


def _drawn(bar: Bar, most: float, width: int) -> str:
    if most <= 0 or bar.value <= 0:
        return " " * width
    length = max(1, round(bar.value / most * width))
    bad = min(length, max(1, round(bar.bad / most * width))) if bar.bad else 0
    return f"{_BAR * (length - bad)}{_BAD * bad}".ljust(width)


ROW, TOP, LEFT, RIGHT, WIDE = 26, 44, 236, 190, 460


def svg_charts(charts: Sequence[tuple[str, Sequence[Bar]]]) -> str:
    """Several charts, one below the other; text and bars are readable on a light and on a dark page."""
    parts, y = [], 0
    for title, bars in charts:
        parts.append(_svg_chart(title, bars, y))
        y += TOP + ROW * max(1, len(bars)) + 20
    whole = LEFT + WIDE + RIGHT
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{whole}" height="{y}" viewBox="0 0 {whole} {y}"'
        ' font-family="system-ui, sans-serif" font-size="13">\n'
        f'<rect width="{whole}" height="{y}" fill="#ffffff"/>\n' + "".join(parts) + "</svg>\n"
    )


def _svg_chart(title: str, bars: Sequence[Bar], y: int) -> str:
    most = max((bar.value for bar in bars), default=0.0) or 1.0
    lines = [f'<text x="16" y="{y + 28}" font-size="15" font-weight="600" fill="#1f2933">{_text(title, 80)}</text>\n']
    if not bars:
        lines.append(f'<text x="16" y="{y + TOP + 16}" fill="#52606d">nothing yet</text>\n')
    for index, bar in enumerate(bars):
        top = y + TOP + index * ROW
        length = max(1.0, bar.value / most * WIDE) if bar.value > 0 else 0.0
        bad = min(length, bar.bad / most * WIDE) if bar.bad else 0.0
        lines.append(
            f'<text x="{LEFT - 10}" y="{top + 15}" text-anchor="end" fill="#1f2933">{_text(bar.name, 30)}</text>\n'
            f'<rect x="{LEFT}" y="{top + 2}" width="{length:.1f}" height="18" rx="2" fill="#2f7ed8"/>\n'
        )
        if bad:
            lines.append(
                f'<rect x="{LEFT + length - bad:.1f}" y="{top + 2}" width="{bad:.1f}" height="18" rx="2"'
                ' fill="#d64545"/>\n'
            )
        lines.append(f'<text x="{LEFT + length + 8:.1f}" y="{top + 15}" fill="#52606d">{_text(bar.label, 24)}</text>\n')
    return "".join(lines)


def _text(text: str, longest: int) -> str:
    """Free of what XML has no place for, and not too long for its place."""
    clean = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)
    return escape(clean if len(clean) <= longest else f"{clean[: longest - 1]}…")
