"""
Find the process of the client that runs a hook, and whether a person can answer at its terminal.

Clients do not report this. Linux shows it in `/proc`; elsewhere, in another process namespace or after the client has
ended, it is not known, and a caller has to take that for a client without a person.
"""

import os
import stat
from collections.abc import Iterator

from msgspec import Struct

from snell.system.process_table import process_at

CI = frozenset({b"CI=true", b"GITHUB_ACTIONS=true"})
MOST_ANCESTORS = 8  # shells and wrappers between a client and the hook


class ClientProcess(Struct, frozen=True):
    words: tuple[str, ...]  # its arguments, without the program
    has_terminal: bool  # it reads from and writes to a terminal, in the foreground


def client_process(hook: int) -> ClientProcess | None:
    """Return the client that started the process `hook`; None where it cannot be read."""
    try:
        pid = next(_clients(hook))
        words = _read(pid, "cmdline").split(b"\0")[1:-1]
        return ClientProcess(tuple(word.decode("utf-8", "replace") for word in words), _has_terminal(pid))
    except (OSError, StopIteration, ValueError, IndexError):
        return None


def _clients(hook: int) -> Iterator[int]:
    """Yield the ancestors that do not share the hook's standard input, as the shells before it do."""
    given, pid = os.stat(f"/proc/{hook}/fd/0"), hook
    for _ in range(MOST_ANCESTORS):
        process = process_at(pid)
        if process is None or process.parent < 1:
            return
        pid = process.parent
        if not os.path.samestat(given, os.stat(f"/proc/{pid}/fd/0")):
            yield pid


def _has_terminal(pid: int) -> bool:
    """Whether the process can read what a user types: it has a terminal, is in the foreground, and not in CI."""
    words = _read(pid, "stat").rpartition(b")")[2].split()
    if int(words[4]) == 0 or words[2] != words[5] or not CI.isdisjoint(_read(pid, "environ").split(b"\0")):
        return False
    return _is_terminal(pid, 0) and _is_terminal(pid, 1)


def _is_terminal(pid: int, number: int) -> bool:
    path = f"/proc/{pid}/fd/{number}"
    if not stat.S_ISCHR(os.stat(path).st_mode):
        return False
    descriptor = os.open(path, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb", buffering=0) as terminal:
        return terminal.isatty()


def _read(pid: int, name: str) -> bytes:
    with open(f"/proc/{pid}/{name}", "rb") as file:
        return file.read()
