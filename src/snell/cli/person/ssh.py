"""Tell whether a session of sshd comes from another machine: an agent can connect to its own."""

import os
import socket
import struct
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

from snell.cli.person.process_chain import FROM_PROC
from snell.system.files import text_or_nothing

_CONNECTED, _LISTENING, _UNIX_CONNECTED = "01", "0A", "03"  # as the kernel writes them
LARGEST = 100_000_000  # bytes of a table of it


def is_from_elsewhere(env: Mapping[str, str], servers: Iterable[int]) -> bool:
    """
    Return whether a session comes from another machine, and none is from this one to itself.

    Its command can change the variables: root sees what these processes of sshd hold; else what is named has to exist.
    """
    if not FROM_PROC:
        return True  # its environment is not known there
    rows = _sockets()
    listening = {_port(here) for here, _, state, _ in rows if state == _LISTENING}
    served = [row for row in rows if row[2] == _CONNECTED and _port(row[0]) in listening]
    if os.getuid() == 0:
        inodes = {inode for pid in servers for inode in _held_by(pid)}
        found = {_port(here) for here, _, _, inode in served if inode in inodes}
    else:
        there, there_port, here, here_port = (*env.get("SSH_CONNECTION", "").split(), *[""] * 4)[:4]
        named = (_as_kernel(here, here_port), _as_kernel(there, there_port))
        found = {_port(row[0]) for row in served if row[:2] == named}
    return bool(found) and not is_connected_to_itself({22, *found})


def is_connected_to_itself(ports: Collection[int]) -> bool:
    """Return whether both ends of a connection to one of these ports, or to sshd's local socket, are here."""
    pairs = {(here, there) for here, there, state, _ in _sockets() if state == _CONNECTED}
    local = (line.split()[5] for line in _lines("unix") if "ssh-unix-local" in line)  # of systemd
    return _UNIX_CONNECTED in local or any((there, here) in pairs and _port(there) in ports for here, there in pairs)


def _sockets() -> list[tuple[str, str, str, str]]:
    """Return both ends, state and inode of each socket, as the kernel writes them; an IPv4 address in IPv6 as IPv4."""
    rows = [line.split() for name in ("tcp", "tcp6") for line in _lines(name)[1:]]
    ends = [[each.removeprefix("0000000000000000FFFF0000") for each in row[1:3]] for row in rows]
    return [(here, there, row[3], row[9]) for (here, there), row in zip(ends, rows, strict=True)]


def _lines(name: str) -> list[str]:
    return text_or_nothing(Path("/proc/net", name), LARGEST).splitlines()


def _held_by(pid: int) -> Iterator[str]:
    """Yield the inodes of a process's sockets."""
    try:
        links = [os.readlink(entry.path) for entry in os.scandir(f"/proc/{pid}/fd")]
    except OSError:
        return
    yield from (link[8:-1] for link in links if link.startswith("socket:["))


def _port(end: str) -> int:
    return int(end.rpartition(":")[2], 16)


def _as_kernel(address: str, port: str) -> str:
    """Return an end of a connection as the kernel writes it."""
    try:
        data = socket.inet_pton(socket.AF_INET6 if ":" in address else socket.AF_INET, address.partition("%")[0])
        words = struct.unpack(f"={len(data) // 4}I", data)
        return "".join(f"{word:08X}" for word in words) + f":{int(port):04X}"
    except (OSError, ValueError):
        return ""
