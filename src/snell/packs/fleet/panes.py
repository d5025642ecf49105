"""
Show the status of an agent as the colour of its tmux pane and window.

Only servers whose socket is called `fleet` or `fleet-...` are touched. A more urgent status is shown at once; a less
urgent one has to last a moment. Nothing that tmux shows is ever read back as state.
"""

import os
import subprocess
from collections.abc import Callable, Mapping
from threading import Thread, Timer

from snell.work.agents import STATUSES, most_urgent

# Background and foreground.
COLOURS: Mapping[str, tuple[str, str]] = {
    "error": ("#3d2020", "#f38ba8"),
    "attention": ("#081a10", "#70e0a0"),
    "working": ("#080c10", "#5080b0"),
    "checked": ("#0a1005", "#506850"),
    "done": ("#0a0a0a", "#505050"),
    "idle": ("default", "default"),
}
COORDINATOR = ("#1b1028", "#cba6f7")  # purple with any status, so that it is found at once among its agents
MARK = "@snell_status"
TMUX_SECONDS = 5.0


def show(env: Mapping[str, str], before: str, after: str, settle: float, is_wanted: Callable[[], bool]) -> None:
    """Paint the caller's pane, now or in a moment, in a thread."""
    socket, pane = socket_of(env), env.get("TMUX_PANE", "")
    if not socket or not is_pane(pane):
        return
    wait = delay(before, after, settle)

    def paint_if_wanted() -> None:
        if is_wanted():
            paint(socket, pane, after, is_coordinator=bool(env.get("AGENT_MANAGES", "").strip()))

    job = Timer(wait, paint_if_wanted) if wait else Thread(target=paint_if_wanted)
    job.daemon = True
    job.start()


def delay(before: str, after: str, settle: float) -> float:
    """Return how long to wait: not at all for a more urgent status than the one shown."""
    return settle if STATUSES.index(after) > STATUSES.index(before) else 0.0


def socket_of(env: Mapping[str, str]) -> str:
    """Return the socket of the caller's tmux server, if it is a fleet's."""
    path = env.get("TMUX", "").split(",")[0]
    name = os.path.basename(path)
    return path if name == "fleet" or name.startswith("fleet-") else ""


def is_pane(pane: str) -> bool:
    return pane.startswith("%") and pane[1:].isdecimal()


def paint(socket: str, pane: str, status: str, *, is_coordinator: bool = False) -> bool:
    """Colour a pane, and its window with the most urgent status of its panes. False if tmux does not respond."""
    background, foreground = COORDINATOR if is_coordinator else COLOURS[status]
    _tmux(socket, "set-option", "-p", "-t", pane, MARK, status)
    if _tmux(socket, "set-option", "-p", "-t", pane, "window-style", f"bg={background},fg={foreground}") is None:
        return False
    _tmux(socket, "set-option", "-p", "-t", pane, "window-active-style", f"bg=black,fg={foreground}")
    shown = (_tmux(socket, "list-panes", "-t", pane, "-F", f"#{{{MARK}}}") or "").split()
    first, second = COLOURS[most_urgent([each for each in shown if each in STATUSES])]
    _tmux(socket, "set-option", "-w", "-t", pane, "window-status-style", f"bg={first},fg={second}")
    return True


def _tmux(socket: str, *words: str) -> str | None:
    try:
        done = subprocess.run(
            ["tmux", "-S", socket, *words], capture_output=True, encoding="utf-8", timeout=TMUX_SECONDS, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout if done.returncode == 0 else None
