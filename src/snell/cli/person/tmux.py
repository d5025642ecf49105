"""
Find who looks at a pane of tmux.

The server of tmux is its own parent's orphan by design, so its ancestors tell nothing. A pane counts by the terminals
that are attached to its session, and never as more than a terminal inside an editor: keys can be sent to it.
"""

import subprocess
from collections.abc import Sequence

from snell.cli.person.process_chain import Link, names_of

SECONDS = 5.0


def pane_of(chain: Sequence[Link]) -> tuple[Link, Link] | None:
    """Return the server of tmux that opened the terminal of this chain, and the process that leads the pane."""
    pairs = zip(chain[1:], chain, strict=False)
    found = (pair for pair in pairs if pair[0].terminal != pair[1].terminal and "tmux" in names_of(pair[0]))
    return next(found, None)


def is_typed(server: Link, leader: Link, since: float) -> bool:
    """Return whether a key was pressed since then where the pane is shown; keys that a command sends do not count."""
    return max((float(client[1]) for client in viewers_of(server, leader)), default=0.0) >= int(since)  # whole seconds


def viewers_of(server: Link, leader: Link) -> list[list[str]]:
    """Return process and last activity of each client that shows the session of the pane which `leader` leads."""
    panes = _ask(server, leader, "list-panes", "-a", "-F", "#{pane_pid} #{session_id}")
    form = "#{client_pid} #{client_activity} #{client_readonly}#{client_control_mode}"
    sessions = [session for pid, session in panes if pid == str(leader.pid)]
    found = (each for session in sessions for each in _ask(server, leader, "list-clients", "-t", session, "-F", form))
    return [each for each in found if each[-1] == "00"]


def _ask(server: Link, leader: Link, *words: str) -> list[list[str]]:
    """Ask this very server: the socket is the one that the pane was started with, and has to name its process."""
    path, pid, *_ = (*leader.env.get("TMUX", "").split(","), "", "")
    if pid != str(server.pid) or not server.program:
        return []
    command = [server.program, "-S", path, *words]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False)
    except (OSError, subprocess.SubprocessError):
        return []
    return [line.split() for line in done.stdout.decode("utf-8", "replace").splitlines() if line.strip()]
