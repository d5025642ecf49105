"""A session of sshd: of a person who comes from another machine, and of an agent that connects to its own."""

import os
import shlex
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from snell.cli.person.ssh import is_connected_to_itself, is_from_elsewhere
from tests.process.person_home import PAUSE, Home, needs_root, refused
from tests.waiting import wait_until

SSHD = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin") or ""
NAMED = "SSH_CONNECTION='198.51.100.7 40000 203.0.113.9 {}'"  # another machine, as a command may claim it


class Elsewhere:
    """Another machine: a network namespace, connected with this one."""

    def __init__(self) -> None:
        number = os.getpid() % 16_000 * 4
        self.ours, self.theirs = (f"198.18.{number >> 8}.{(number & 255) + each}" for each in (1, 2))
        self.link = f"sn{os.getpid()}"
        self.holder = subprocess.Popen(["unshare", "-n", "cat"], stdin=subprocess.PIPE)
        wait_until(lambda: _network(self.holder.pid) != _network(os.getpid()))
        self._ip("link", "add", self.link, "type", "veth", "peer", "name", "there", "netns", str(self.holder.pid))
        self._ip("address", "add", f"{self.ours}/30", "dev", self.link)
        self._ip("link", "set", self.link, "up")
        for words in (["address", "add", f"{self.theirs}/30", "dev", "there"], ["link", "set", "there", "up"]):
            subprocess.run([*self.inside, "ip", *words], check=True)

    @property
    def inside(self) -> list[str]:
        return ["nsenter", "-t", str(self.holder.pid), "-n"]

    def end(self) -> None:
        self.holder.communicate()

    @staticmethod
    def _ip(*words: str) -> None:
        subprocess.run(["ip", *words], check=True)


def _network(pid: int) -> str:
    return os.readlink(f"/proc/{pid}/ns/net")


@pytest.fixture
def elsewhere() -> Iterator[Elsewhere]:
    if not shutil.which("ip"):
        pytest.skip("the program `ip` is not installed")
    machine = Elsewhere()
    yield machine
    machine.end()


class Server:
    """An sshd of its own, with a key and settings in the user's folder."""

    def __init__(self, home: Home) -> None:
        self.home = home
        for name in ("key", "host"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", home.folder / name], check=True)
        with closing(socket.socket()) as free:
            free.bind(("", 0))
            self.port = free.getsockname()[1]
        lines = {
            "Port": self.port,
            "HostKey": home.folder / "host",
            "AuthorizedKeysFile": home.folder / "key.pub",
            "PidFile": home.folder / "pid",
            "PermitRootLogin": "yes",
            "StrictModes": "no",
            "UsePAM": "no",
        }
        self.settings = home.program("settings", "".join(f"{name} {value}\n" for name, value in lines.items()))
        run = f"{SSHD} -D -f {self.settings} >/dev/null 2>&1"
        start = f"mount -t tmpfs none /run && mkdir /run/sshd && exec setsid -f {run}"
        home.run(["/usr/bin/unshare", "-m", "/bin/sh", "-c", start])
        self.pid = int(wait_until(lambda: (home.folder / "pid").exists() and (home.folder / "pid").read_text("ascii")))

    def ssh(self, host: str, *options: str, named: str = "", inside: tuple[str, ...] = ()) -> str:
        """Run `snell pause` in a terminal of a session; `named` are variables that its command sets."""
        variables = [*(f"{name}={value}" for name, value in self.home.env.items()), "TERM=xterm"]
        command = f"exec env {named} {shlex.join([*variables, *PAUSE])}"
        known = ("-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR")
        where = ("-i", str(self.home.folder / "key"), "-p", str(self.port), *known, *options)
        return self.home.run([*inside, "ssh", "-F", "none", "-tt", *where, f"root@{host}", command])


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    if not (SSHD and shutil.which("ssh")):
        pytest.skip("sshd is not installed")
    server = Server(Home(tmp_path))
    yield server
    os.kill(server.pid, 15)


@needs_root
def test_a_person_who_comes_from_another_machine_is_asked_nothing(server: Server, elsewhere: Elsewhere) -> None:
    said = server.ssh(elsewhere.ours, inside=(*elsewhere.inside,))
    assert "only policy hooks run until" in said
    assert server.home.is_paused


@needs_root
@pytest.mark.parametrize("claimed", ["", NAMED.format(22), NAMED.format(9)])
def test_a_session_from_this_machine_is_refused_whatever_its_variables_say(server: Server, claimed: str) -> None:
    for host in ("127.0.0.1", *_own_addresses()):
        assert refused(server.home, server.ssh(host, named=claimed))


@needs_root
def test_a_session_of_sshd_without_a_network_is_refused(server: Server) -> None:
    proxy = ("-o", f"ProxyCommand={SSHD} -i -f {server.settings}")
    assert refused(server.home, server.ssh("localhost", *proxy, named=NAMED.format(22)))


@needs_root
def test_the_connection_that_the_variables_name_has_to_exist(
    elsewhere: Elsewhere, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a user sees it who is not root, and cannot see what sshd holds."""
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    with closing(socket.create_server(("", 0))) as listening:
        port = listening.getsockname()[1]
        connect = f"exec 3<>/dev/tcp/{elsewhere.ours}/{port}; read line <&3"
        client = subprocess.Popen([*elsewhere.inside, "bash", "-c", connect])
        with closing(listening.accept()[0]) as accepted:
            named = f"{elsewhere.theirs} {accepted.getpeername()[1]} {elsewhere.ours} {port}"
            assert is_from_elsewhere({"SSH_CONNECTION": named}, [])
            for wrong in ("", named.replace(str(port), "22"), f"198.51.100.7{named[named.index(' ') :]}", "a b c d"):
                assert not is_from_elsewhere({"SSH_CONNECTION": wrong}, [])
            with closing(socket.create_connection(("127.0.0.1", port))), closing(listening.accept()[0]):
                assert not is_from_elsewhere({"SSH_CONNECTION": named}, [])
        client.wait()


def test_an_ssh_to_this_machine_is_seen_whatever_the_variables_say() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as listening:
        port = listening.getsockname()[1]
        assert not is_connected_to_itself({port})
        with closing(socket.create_connection(("127.0.0.1", port))), closing(listening.accept()[0]):
            assert is_connected_to_itself({port})
            assert not is_connected_to_itself({port + 1})


def test_a_session_over_the_local_socket_of_sshd_is_seen(tmp_path: Path) -> None:
    folder = tmp_path / "ssh-unix-local"
    folder.mkdir()
    with closing(socket.socket(socket.AF_UNIX)) as listening, closing(socket.socket(socket.AF_UNIX)) as client:
        listening.bind(str(folder / "socket"))
        listening.listen()
        assert not is_connected_to_itself(())
        client.connect(str(folder / "socket"))
        with closing(listening.accept()[0]):
            assert is_connected_to_itself(())


def _own_addresses() -> list[str]:
    with closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing
        except OSError:
            return []
        return [probe.getsockname()[0]]
