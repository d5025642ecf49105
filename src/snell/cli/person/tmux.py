"""
Find who looks at a pane of tmux.

The server of tmux is its own parent's orphan by design, so its ancestors tell nothing. A pane counts by the terminals
that are attached to its session, and never as more than a terminal inside an editor: keys can be sent to it.
"""

import subprocess
from collections.abc import Iterator, Sequence

from snell.cli.person.process_chain import Link, names_of

SECONDS = 5.0


def pane_of(chain: Sequence[Link]) -> tuple[Link, Link] | None:
    """Return the server of tmux that opened the terminal of this chain, and the process that leads the pane."""
    pairs = zip(chain[1:], chain, strict=False)
    return next(((host, leader) for host, leader in pairs if leader.terminal != host.terminal and _is_tmux(host)), None)


def _is_tmux(link: Link) -> bool:
    return "tmux" in names_of(link)


def viewers_of(server: Link, leader: Link) -> Iterator[int]:
    """Return the processes of the clients that are attached to the session of the pane which `leader` leads."""
    return (int(each[0]) for each in _clients(server, leader))


def is_typed(server: Link, leader: Link, since: float) -> bool:
    """Return whether a key was pressed since then where the pane is shown; keys that a command sends do not count."""
    times = [float(each[1]) for each in _clients(server, leader)]
    return max(times, default=0.0) >= int(since)  # tmux counts in seconds


def _clients(server: Link, leader: Link) -> Iterator[list[str]]:
    """Yield process id and last activity of each client on which the pane is shown and can be used."""
    form = "#{client_pid} #{client_activity} #{client_readonly}#{client_control_mode}"
    for pane, session in _ask(server, leader, "list-panes", "-a", "-F", "#{pane_pid} #{session_id}"):
        if pane == str(leader.pid):
            found = _ask(server, leader, "list-clients", "-t", session, "-F", form)
            yield from (each for each in found if each[-1] == "00")


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
