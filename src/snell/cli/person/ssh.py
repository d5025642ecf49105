"""Tell whether a session of sshd comes from another machine: an agent can connect to its own."""

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from snell.cli.person.process_chain import FROM_PROC
from snell.system.files import text_or_nothing

CONFIGURATION = Path("/etc/ssh/sshd_config")
LARGEST = 1_000_000  # bytes of it
_CONNECTED = "01"  # as the kernel writes it


def is_from_elsewhere(env: Mapping[str, str]) -> bool:
    """Return whether the variables of the session name another machine, and no session is from this one to itself."""
    if not FROM_PROC:
        return True  # its environment is not known there
    ends = env.get("SSH_CONNECTION", "").split()
    is_named = len(ends) == 4 and ends[0] != ends[2] and not ends[0].startswith(("127.", "::1", "::ffff:127."))
    # The command of a session can change its variables, so they alone prove nothing.
    return is_named and not is_connected_to_itself(_ports(ends[3]))


def is_connected_to_itself(ports: Collection[int]) -> bool:
    """Return whether both ends of a connection to one of these ports are on this machine."""
    pairs = set(_connections())
    return any((there, here) in pairs and int(here.rpartition(":")[2], 16) in ports for here, there in pairs)


def _ports(named: str) -> set[int]:
    """Return the ports of sshd: the usual one, that of the variable, and those of its configuration."""
    words = [line.split() for line in text_or_nothing(CONFIGURATION, LARGEST).splitlines()]
    found = [each[1] for each in words if len(each) == 2 and each[0].lower() == "port"]
    return {22, *(int(each) for each in (named, *found) if each.isdecimal())}


def _connections() -> Iterator[tuple[str, str]]:
    """Yield both ends of each connection, as the kernel writes them: an IPv4 address in IPv6 as IPv4."""
    for name in ("tcp", "tcp6"):
        try:
            rows = Path(f"/proc/net/{name}").read_text(encoding="ascii").splitlines()[1:]
        except OSError:
            continue
        for row in rows:
            fields = row.split()
            if len(fields) > 3 and fields[3] == _CONNECTED:
                yield _without_prefix(fields[1]), _without_prefix(fields[2])


def _without_prefix(end: str) -> str:
    return end.removeprefix("0000000000000000FFFF0000")
