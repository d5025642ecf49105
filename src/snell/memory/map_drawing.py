"""Draw a map of memories: SVG for browsers, Mermaid for Markdown viewers."""

import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import NamedTuple

from snell.memory.clusters import Region
from snell.memory.map_layout import Layout
from snell.memory.types import Memory

WIDTH, HEIGHT, MARGIN, HEAD, LEGEND = 1000, 700, 60, 48, 250
LETTER = 6.9  # approximate width of a letter
LEGEND_LETTERS = int((LEGEND - 38 - 8) / LETTER)  # beside the dot, with a margin
MOST_IN_MERMAID = 60  # a larger chart is unreadable, and renderers refuse long texts
# Distinguishable also with colour blindness (after Okabe and Ito), and dark enough on white.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b8860b", "#56b4e9", "#7a5195", "#5c7a29")
GREY = "#8a8f98"
_PLAIN = " .,:;-–—/_…'’+=!?()*@$~"  # no special meaning for Mermaid between quotes
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]+")


class Box(NamedTuple):
    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: "Box") -> bool:
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )


def svg(layout: Layout, memories: Mapping[str, Memory], regions: Sequence[Region], *, edges: bool = True) -> str:
    """Return a picture: one dot for each memory, sized by importance, coloured by region."""
    colours = {id_: COLOURS[number % len(COLOURS)] for number, each in enumerate(regions) for id_ in each.members}
    wide, high, top = WIDTH - 2 * MARGIN, HEIGHT - HEAD - 1.5 * MARGIN, HEAD + MARGIN / 2
    at = {each: (MARGIN + point[0] * wide, top + point[1] * high) for each, point in layout.points.items()}
    lines = [_head(len(memories), len(regions))]
    for edge in layout.edges if edges else ():
        (x1, y1), (x2, y2) = at[edge.start], at[edge.end]
        strength = f'stroke-opacity="{0.15 + 0.6 * max(0.0, edge.similarity):.2f}"'
        lines.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" {strength}/>')
    # Small and distant dots are drawn first, so that they hide nothing.
    order = sorted(at, key=lambda each: (_depth(layout, each), memories[each].importance, each))
    lines += [_dot(memories[each], at[each], colours.get(each, GREY), _depth(layout, each)) for each in order]
    lines += _labels(memories, at, order)
    lines += _legend(regions)
    return "\n".join([*lines, "</svg>"]) + "\n"


def mermaid(layout: Layout, memories: Mapping[str, Memory], regions: Sequence[Region], *, edges: bool = True) -> str:
    """Return a flow chart: a frame for each region, a node for each memory, a line between similar ones."""
    shown = sorted(layout.points, key=lambda each: (-memories[each].importance, each))[:MOST_IN_MERMAID]
    names = {each: f"m{number}" for number, each in enumerate(shown, start=1)}
    boxes = {each: f'{names[each]}["{_mermaid_text(brief(memories[each].content))}"]' for each in shown}
    lines, inside = ["graph LR"], set()
    for number, region in enumerate(regions, start=1):
        members = [each for each in region.members if each in names]
        if members:
            lines.append(f'  subgraph r{number}["{_mermaid_text(_title(region, number))}"]')
            lines += [f"    {boxes[each]}" for each in members]
            lines.append("  end")
            inside |= set(members)
    lines += [f"  {boxes[each]}" for each in shown if each not in inside]
    for edge in layout.edges if edges else ():
        if edge.start in names and edge.end in names:
            lines.append(f"  {names[edge.start]} ---|{edge.similarity:.2f}| {names[edge.end]}")
    left = len(layout.points) - len(shown)
    return "\n".join([*lines, *([f"  %% {left} more are not shown"] if left else [])]) + "\n"


def brief(text: str, most: int = 42) -> str:
    """Return the beginning of a text on one line."""
    line = " ".join(_CONTROL.sub(" ", text[: most * 8]).split())
    if len(line) <= most:
        return line
    cut = line[: most - 1]
    return (cut.rsplit(" ", 1)[0] if " " in cut[most // 2 :] else cut) + "…"


def _head(memories: int, regions: int) -> str:
    size = f'viewBox="0 0 {WIDTH + LEGEND} {HEIGHT}" width="{WIDTH + LEGEND}" height="{HEIGHT}"'
    style = 'font-family="system-ui, sans-serif" font-size="12"'
    title = f"{memories} memor{'y' if memories == 1 else 'ies'} in {regions} region{'' if regions == 1 else 's'}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} {style} role="img" aria-label="{title}">\n'
        f'<rect width="100%" height="100%" fill="#ffffff"/>\n'
        f'<text x="{MARGIN / 2}" y="30" font-size="17" font-weight="600" fill="#22262c">{title}</text>\n'
        f'<g stroke="#5b6470" stroke-width="1.2">'
    )


def _dot(memory: Memory, at: tuple[float, float], colour: str, depth: float) -> str:
    radius = 4 + 9 * memory.importance
    title = escape(f"{brief(memory.content, 300)} ({memory.namespace}, importance {memory.importance:.2f})")
    return (
        f'<circle cx="{at[0]:.1f}" cy="{at[1]:.1f}" r="{radius * (0.6 + 0.4 * depth):.1f}" fill="{colour}"'
        f' fill-opacity="{0.45 + 0.5 * depth:.2f}" stroke="#ffffff" stroke-width="1.5"><title>{title}</title></circle>'
    )


def _labels(memories: Mapping[str, Memory], at: Mapping[str, tuple[float, float]], order: Sequence[str]) -> list[str]:
    """Return texts beside the dots, the important ones first; one without free space is left to the tooltip."""
    radius = {each: 4 + 9 * memories[each].importance for each in at}
    taken = [Box(x - radius[each], y - radius[each], x + radius[each], y + radius[each]) for each, (x, y) in at.items()]
    found = ["</g>", '<g fill="#22262c">']
    for each in reversed(order):
        text = brief(memories[each].content, 32)
        for left, y in _sides(at[each], radius[each], LETTER * len(text)):
            box = Box(left, y - 11, left + LETTER * len(text), y + 3)
            if left >= 0 and box.right <= WIDTH + 20 and not any(box.overlaps(other) for other in taken):
                taken.append(box)
                found.append(f'<text x="{left:.1f}" y="{y:.1f}">{escape(text)}</text>')
                break
    return [*found, "</g>"]


def _sides(at: tuple[float, float], radius: float, width: float) -> list[tuple[float, float]]:
    x, y = at
    gap = max(radius, 6) + 4
    middle = x - width / 2
    return [(x + gap, y + 4), (x - gap - width, y + 4), (middle, y - gap - 2), (middle, y + gap + 11)]


def _legend(regions: Sequence[Region]) -> list[str]:
    found = []
    for number, region in enumerate(regions[:24], start=1):
        y = HEAD + 22 * number
        count = f" ({len(region.members)})"
        text = escape(brief(_title(region, number), LEGEND_LETTERS - len(count)) + count)
        colour = COLOURS[(number - 1) % len(COLOURS)]
        found.append(f'<circle cx="{WIDTH + 24}" cy="{y - 4}" r="6" fill="{colour}"/>')
        found.append(f'<text x="{WIDTH + 38}" y="{y}" fill="#22262c">{text}</text>')
    return found


def _title(region: Region, number: int) -> str:
    return ", ".join(region.keywords) or f"region {number}"


def _depth(layout: Layout, each: str) -> float:
    """Return how near a point is to the viewer; on a flat map all are in front."""
    point = layout.points[each]
    return point[2] if len(point) > 2 else 1.0


def _mermaid_text(text: str) -> str:
    """Escape a text, so that it cannot end its box or act as markup; Mermaid's entities begin with `#`, not `&`."""
    return "".join(each if each.isalnum() or each in _PLAIN else f"#{ord(each)};" for each in text)
