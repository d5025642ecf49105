"""
Decide who runs this command: a person at a terminal, a person or an agent in an editor, or one that is not known.

The process that opened the terminal has to be a program that is known as a terminal, and neither it nor any other
ancestor a coding client. A pseudo-terminal that another program opened (`script`, `expect`, Python), a chain with a
gap (a process whose parent has ended) and a missing terminal are not known. A variable can only lower the result.
"""

import os
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from functools import cache
from itertools import takewhile
from pathlib import Path

import msgspec
from msgspec import Struct

from snell.cli.confirmation import is_agent
from snell.cli.person.process_chain import FROM_PROC, Link, chain_of, names_of
from snell.cli.person.ssh import is_from_elsewhere
from snell.cli.person.tmux import viewers_of
from snell.clients import client_named, client_names
from snell.system.files import stat_or_none


class Caller(IntEnum):
    """Who runs a command, from the least to the most that is known."""

    AGENT = 0
    UNKNOWN = 1
    EDITOR = 2  # a terminal inside an editor or tmux, where an agent may type too
    PERSON = 3


class Programs(Struct, frozen=True, forbid_unknown_fields=True):
    """Programs by what they tell about their descendants."""

    terminals: frozenset[str]
    ssh: frozenset[str]
    relays: frozenset[str]  # they open a terminal for a command and pass on what comes from their own
    editors: frozenset[str]
    scripted: frozenset[str]  # editors that run any script without a window, so they prove nothing
    editor_paths: tuple[str, ...]
    editor_variables: tuple[str, ...]
    editor_values: dict[str, tuple[str, ...]]
    clients: frozenset[str]
    interpreters: frozenset[str]
    system_folders: tuple[str, ...]  # only an administrator installs programs there


@cache
def programs() -> Programs:
    """Return the table of programs, with the clients that Snell knows; an editor is no client."""
    data = Path(__file__).with_name("programs.json").read_bytes()
    table = msgspec.json.decode(data, type=Programs)
    known = {name for client in client_names() for name in client_named(client).install.programs}
    return msgspec.structs.replace(table, clients=(table.clients | known) - table.editors)


def caller_of(pid: int, env: Mapping[str, str]) -> Caller:
    """Return who runs the process `pid`, which has this environment."""
    chain = chain_of(pid)
    if is_agent(env) or any(is_agent(link.env) or is_client(link) for link in chain):
        return Caller.AGENT
    found = at_terminal(chain)
    return min(found, Caller.EDITOR) if _is_in_editor(chain, env) else found


def is_client(link: Link) -> bool:
    """Return whether the process is a coding client, or an interpreter that runs one."""
    table, names = programs(), set(names_of(link))
    if names & table.clients:
        return True
    if not any(name.rstrip("0123456789.") in table.interpreters for name in names):
        return False
    script = next((word for word in link.words[1:] if not word.startswith("-")), "")
    parts = {part.removesuffix(".js").removesuffix(".py") for part in script.split("/")}
    return bool(parts & table.clients)


def at_terminal(chain: Sequence[Link]) -> Caller:
    """Return what the terminal tells: who opened it, and with an unbroken chain to there."""
    if not chain or not chain[0].terminal or not _is_own_system():
        return Caller.UNKNOWN
    below = [link for link in chain if link.terminal == chain[0].terminal]
    leader, above = below[-1], chain[len(below) :]
    if chain[: len(below)] != below or leader.session not in (0, leader.pid):
        return Caller.UNKNOWN  # a gap: the process that leads the session is not among the ancestors
    if not above:
        return Caller.PERSON if leader.parent == 0 else Caller.UNKNOWN
    return _opened_by(above, leader)


def _opened_by(above: Sequence[Link], leader: Link) -> Caller:
    host, table = above[0], programs()
    names = _names_of_host(host)
    if host.pid == 1 or (_is_login(host, above) and not host.terminal):
        # A console, on which root's `login` is the leader or has left it to the shell; or a process without its parent,
        # which may have opened a serial line.
        is_console = not leader.is_pseudo and _is_login(leader if host.pid == 1 else host, above)
        return Caller.PERSON if is_console else Caller.UNKNOWN
    if names & table.relays and _is_installed(host, above):
        return at_terminal(above) if host.terminal else Caller.UNKNOWN
    if "tmux" in names and _is_installed(host, above):
        seen = (min(Caller.EDITOR, caller_of(int(pid), {})) for pid, *_ in viewers_of(host, leader))
        return max(seen, default=Caller.UNKNOWN)
    servers = [link.pid for link in takewhile(lambda each: _names_of_host(each) & table.ssh, above)]
    if servers and not (_is_of_system(host) and is_from_elsewhere(leader.env, servers)):
        return Caller.UNKNOWN
    if names & table.terminals:
        is_itself = not host.program or os.path.basename(host.program) in table.terminals  # not an interpreter's script
        if is_itself and _is_installed(host, above) and (servers or _is_plain_shell(leader)):
            return Caller.PERSON
    elif not _is_editor_program(host):
        return Caller.UNKNOWN
    return Caller.EDITOR if _is_installed(host, above) or _is_older_than_a_day(host.program) else Caller.UNKNOWN


def _names_of_host(host: Link) -> set[str]:
    """Return the names of what opened the terminal: by its executable, if that is known, since others can be chosen."""
    if not host.program:
        return set(names_of(host))
    name, table = os.path.basename(host.program), programs()
    script = host.words[1] if name.rstrip("0123456789.") in table.interpreters and len(host.words) > 1 else ""
    return {name, *({os.path.basename(script)} & table.terminals if _is_of_administrator(script) else ())}


def _is_installed(host: Link, above: Sequence[Link]) -> bool:
    """Return whether an administrator installed the program; one that may not be read has to be of the system."""
    if not host.program:
        parent = above[1] if len(above) > 1 else host
        return host.user != os.getuid() or (parent.user == 0 and bool(set(names_of(parent)) & set(names_of(host))))
    return _is_of_administrator(host.program) and runs_only_system_code(host)


def _is_of_administrator(path: str) -> bool:
    found = stat_or_none(path) if path.startswith(programs().system_folders) else None
    return found is not None and (found.st_uid == 0 or sys.platform == "darwin")


def _is_plain_shell(link: Link) -> bool:
    """Return whether a terminal runs a shell, with options as emulators give them, and no command of a program."""
    options = {"-", "-i", "-l", "--login", "--posix", "--noprofile", "--norc"}
    return not FROM_PROC or (_is_of_administrator(link.program) and set(link.words[1:]) <= options)


def _is_login(link: Link, above: Sequence[Link]) -> bool:
    return link.user == 0 and "login" in _names_of_host(link) and _is_installed(link, above)


def _is_older_than_a_day(path: str) -> bool:
    """Return whether a program of the user is older than a day: an agent can copy any under the name of an editor."""
    found = stat_or_none(path)
    return found is not None and not _is_of_administrator(path) and time.time() - found.st_ctime > 86_400


def _is_of_system(host: Link) -> bool:
    """Return whether a server was not started by this user: anyone can start an sshd of their own."""
    return not host.program or host.user != os.getuid() or os.getuid() == 0


def runs_only_system_code(host: Link) -> bool:
    """Return whether all code in a process is from folders of the system; a library may have been loaded into it."""
    try:
        lines = Path(f"/proc/{host.pid}/maps").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return True  # of another user, or of a system that does not tell
    rows = [line.split(None, 5) for line in lines]
    code = {row[5] for row in rows if len(row) == 6 and "x" in row[1] and row[5].startswith("/")}
    return all(path.startswith((*programs().system_folders, "/lib")) for path in code)


def _is_own_system() -> bool:
    """Return whether this is no namespace of users as any user can make it, with programs of its own in `/usr`."""
    try:
        rows = [line.split() for line in Path("/proc/self/uid_map").read_text(encoding="ascii").splitlines()]
    except OSError:
        return not FROM_PROC
    return len(rows) > 1 or any(int(row[2]) > 1 for row in rows)


def _is_in_editor(chain: Iterable[Link], env: Mapping[str, str]) -> bool:
    table = programs()
    environments = [env, *(link.env for link in chain)]
    is_set = any(each.get(name) for each in environments for name in table.editor_variables)
    has_value = any(each.get(name) in values for each in environments for name, values in table.editor_values.items())
    return is_set or has_value or any(map(_is_editor, chain))


def _is_editor(link: Link) -> bool:
    table, texts = programs(), (link.program, *link.words)
    is_known = {name.lower() for name in names_of(link)} & table.editors
    return bool(is_known) or any(path in text for path in table.editor_paths for text in texts)


def _is_editor_program(host: Link) -> bool:
    """Return whether the executable is an editor's, and runs no script; other names are any process's own choice."""
    is_scripted = os.path.basename(host.program) in programs().scripted or host.env.get("ELECTRON_RUN_AS_NODE")
    return not is_scripted and _is_editor(msgspec.structs.replace(host, name="", words=()))
