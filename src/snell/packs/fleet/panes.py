"""
Colour panes of tmux: each with the status of its agent, and its window with the most urgent status in it.

Only servers whose socket is called `fleet` or `fleet-...` are touched. The address of a pane is `SOCKET,%NUMBER`.
"""

import os
import subprocess
from collections.abc import Mapping

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


def address_in(env: Mapping[str, str]) -> str:
    """Return the address of the caller's pane; empty if it is in none, or its tmux server is not a fleet's."""
    socket, pane = env.get("TMUX", "").split(",")[0], env.get("TMUX_PANE", "")
    return f"{socket},{pane}" if is_address(f"{socket},{pane}") else ""


def is_address(address: str) -> bool:
    """Return whether this is the address of a pane in a fleet's tmux server."""
    socket, _, pane = address.rpartition(",")
    name = os.path.basename(socket)
    is_fleet = name == "fleet" or name.startswith("fleet-")
    return is_fleet and pane.startswith("%") and pane[1:].isdecimal()


def paint(address: str, status: str, *, is_coordinator: bool = False) -> bool:
    """Colour a pane, and its window with the most urgent status of its panes. False if tmux does not have the pane."""
    background, foreground = COORDINATOR if is_coordinator else COLOURS[status]
    socket, _, pane = address.rpartition(",")
    _tmux(socket, "set-option", "-p", "-t", pane, MARK, status)
    if _tmux(socket, "set-option", "-p", "-t", pane, "window-style", f"bg={background},fg={foreground}") is None:
        return False
    _tmux(socket, "set-option", "-p", "-t", pane, "window-active-style", f"bg=black,fg={foreground}")
    shown = (_tmux(socket, "list-panes", "-t", pane, "-F", f"#{{{MARK}}}") or "").split()
    first, second = COLOURS[most_urgent([each for each in shown if each in STATUSES])]
    _tmux(socket, "set-option", "-w", "-t", pane, "window-status-style", f"bg={first},fg={second}")
    return True


def is_looked_at(address: str) -> bool:
    """Return whether a pane is the active one on the screen of a user who is attached to its tmux server."""
    socket, _, pane = address.rpartition(",")
    shown = "#{pane_active} #{window_active} #{?session_attached,1,0}"
    return _tmux(socket, "display-message", "-p", "-t", pane, shown) == "1 1 1\n"


def _tmux(socket: str, *words: str) -> str | None:
    try:
        done = subprocess.run(
            ["tmux", "-S", socket, *words], capture_output=True, encoding="utf-8", timeout=TMUX_SECONDS, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout if done.returncode == 0 else None
