"""
How the memory of the daemon grows: with events, with projects, and with changes of the settings.

`python -m bench.memory_curves FILE` draws the three curves as an SVG image.
"""

import functools
import itertools
import json
import socket
import sys
import uuid
from collections.abc import Callable
from pathlib import Path

from bench.measure import Measured
from bench.scene import EVENT, Scene, scene
from bench.standing import children, resident
from snell.daemon.shim_connection import encode_request
from snell.daemon.wire import KEEPALIVE

EVENTS, PROJECTS, CHANGES = 20_000, 2_000, 5_000
SAMPLES = 40
WARM, FIRST = 500, 50  # events, then steps of the load, before the first sample: what is imported once is not growth
WIDTH, HEIGHT, LEFT, TOP = 760, 320, 60, 24
COLOURS = ("#2563eb", "#c2410c", "#15803d")

Curve = list[tuple[float, float]]  # how much is done, from 0 to 1, and megabytes


def memory_of_many_projects() -> Measured:
    """Megabytes that 2,000 projects add, each with two events."""
    return _growth("2,000 projects")


def memory_of_settings_changes() -> Measured:
    """Megabytes that 5,000 changes of the user's settings add, an event after each."""
    return _growth("5,000 changes of settings")


def _growth(name: str) -> Measured:
    curve = curves()[name]
    return curve[-1][1] - curve[0][1], {"MB at the beginning": curve[0][1], "MB at the end": curve[-1][1]}


@functools.cache
def curves() -> dict[str, Curve]:
    """Run each kind of load against a daemon of its own."""
    return {
        "20,000 events": _curve(EVENTS, lambda here, _: _send(here, here.folder)),
        "2,000 projects": _curve(PROJECTS, _in_a_new_project),
        "5,000 changes of settings": _curve(CHANGES, _after_a_change),
    }


def _curve(times: int, step: Callable[[Scene, int], None]) -> Curve:
    found = []
    with scene() as here:
        for _ in range(WARM):
            _send(here, here.folder)
        for number in range(-FIRST, 0):
            step(here, number)
        for number in range(times):
            if number % (times // SAMPLES) == 0:
                found.append((number / times, _megabytes(here)))
            step(here, number)
        here.wait_until_quiet()
        found.append((1.0, _megabytes(here)))
    return found


def _megabytes(here: Scene) -> float:
    return sum(resident(process) for process in (here.daemon, *children(here.daemon)))


def _in_a_new_project(here: Scene, number: int) -> None:
    project = here.folder / "projects" / f"p{number}"
    (project / ".git").mkdir(parents=True)
    (project / ".snell").mkdir()
    (project / ".snell" / "snell.toml").write_text(f'[pack.guard]\nextra_number = "{number}"\n', encoding="utf-8")
    for _ in range(2):
        _send(here, project)


def _after_a_change(here: Scene, number: int) -> None:
    settings = here.folder / "config" / "snell.toml"
    settings.write_text(f'packs = ["pack"]\n# change {number}\n[env]\nNUMBER = "{number}"\n', encoding="utf-8")
    _send(here, here.folder)


def _send(here: Scene, folder: Path) -> None:
    """Send one event with a command line of its own, without `snell-hook`."""
    call = {
        **EVENT,
        "cwd": str(folder),
        "tool_use_id": uuid.uuid4().hex,
        "tool_input": {"command": f"ls {uuid.uuid4()}"},
    }
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.connect(str(here.folder / "run" / "snell.sock"))
        request = encode_request(
            uuid.uuid4().hex.encode(),
            b"0.1.0",
            str(folder).encode(),
            b"--client\0claude-code",
            b"",
            json.dumps(call).encode(),
        )
        connection.sendall(request)
        data = b"".join(iter(functools.partial(connection.recv, 1 << 16), b"")).lstrip(KEEPALIVE)
    if data[:8] != b"SNR1" + bytes(4):  # an exit code of 0
        raise RuntimeError(f"an event was not answered: {data!r}")


def draw(found: dict[str, Curve]) -> str:
    """Return the curves as an SVG image."""
    highest = max(megabytes for curve in found.values() for _, megabytes in curve) * 1.15
    down, right = HEIGHT - TOP - 40, WIDTH - LEFT - 20
    parts = []
    for megabytes in range(0, int(highest) + 1, 10):
        y = TOP + down - megabytes / highest * down
        parts.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{LEFT + right}" y2="{y:.1f}" stroke="#e5e7eb"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end" fill="#4b5563">{megabytes} MB</text>')
    for (name, curve), colour, number in zip(found.items(), COLOURS, itertools.count(), strict=False):
        points = " ".join(f"{LEFT + part * right:.1f},{TOP + down - size / highest * down:.1f}" for part, size in curve)
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        x = LEFT + number * 220
        parts.append(f'<rect x="{x}" y="{HEIGHT - 22}" width="11" height="11" rx="2" fill="{colour}"/>')
        parts.append(f'<text x="{x + 17}" y="{HEIGHT - 12}" fill="#111827">{name}</text>')
    inside = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
        f' role="img" font-family="system-ui, DejaVu Sans, sans-serif" font-size="13">\n<title>Resident memory of the'
        f' daemon and the process of Python hooks</title>\n<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>\n'
        f"{inside}\n</svg>\n"
    )


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(draw(curves()), encoding="utf-8")
    for title, points in curves().items():
        print(f"{title}: {points[0][1]:.1f} -> {points[-1][1]:.1f} MB")
