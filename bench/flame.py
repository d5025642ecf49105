"""Draw a flame graph: one box for each function, as wide as its share of the samples, its callers below it."""

from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path

import msgspec

WIDTH, ROW, LETTER = 1200, 16, 6.6  # pixels
NARROWEST = 0.4  # boxes below that are left out
Stack = tuple[str, ...]


class Box(msgspec.Struct):
    """One function in one place of the call tree."""

    name: str
    samples: int = 0
    inner: dict[str, "Box"] = {}


def write_flame_graph(path: Path, stacks: Mapping[Stack, int], title: str) -> None:
    """Write the SVG file; `stacks` has the number of samples by call stack, the outermost function first."""
    root = Box(title)
    for stack, samples in stacks.items():
        root.samples += samples
        at = root
        for name in stack:
            at = at.inner.setdefault(name, Box(name))
            at.samples += samples
    scale = WIDTH / max(root.samples, 1)
    height = ROW * (_depth(root, NARROWEST / scale) + 1)
    boxes = "\n".join(_draw(root, 0.0, height - ROW, scale, max(root.samples, 1)))
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" font-family="monospace"'
    path.write_text(f'{head} font-size="11">\n{boxes}\n</svg>\n', encoding="utf-8")


def _depth(box: Box, least: float) -> int:
    return 1 + max((_depth(each, least) for each in box.inner.values() if each.samples >= least), default=0)


def _draw(box: Box, left: float, top: float, scale: float, total: int) -> Iterator[str]:
    width = box.samples * scale
    if width < NARROWEST:
        return
    shown = box.name if len(box.name) * LETTER < width else box.name[: max(0, int(width / LETTER) - 1)]
    color = f"hsl({20 + sum(map(ord, box.name)) % 35},80%,{62 + sum(map(ord, box.name)) % 14}%)"
    yield (
        f'<g><title>{escape(box.name)}: {box.samples / total:.1%}</title><rect x="{left:.1f}" y="{top}" '
        f'width="{width:.1f}" height="{ROW - 1}" fill="{color}"/>'
        f'<text x="{left + 2:.1f}" y="{top + ROW - 4}">{escape(shown)}</text></g>'
    )
    for each in sorted(box.inner.values(), key=lambda inner: inner.name):
        yield from _draw(each, left, top - ROW, scale, total)
        left += each.samples * scale
