"""A person with a home, a project and Snell, who runs a real coding agent."""

import os
import pty
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from tests.person import as_person

NOWHERE = "http://127.0.0.1:9"  # whatever a client wants of the world fails at once
OURS = (".config/snell", ".local/state/snell")
OUR_PARENTS = (".config", ".local", ".local/state")


class Ran(Struct, frozen=True):
    code: int
    out: str
    err: str


class ClientUser:
    """A home and a project, both fresh."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.project = folder / "project"
        self.home.mkdir()
        self.project.mkdir()
        subprocess.run(["git", "init", "-q", str(self.project)], env=self.env(), check=True)
        self.configure()

    def env(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        """What the person's shell has: nothing of the user who runs these tests."""
        node = os.path.dirname(shutil.which("node") or "")
        proxies = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), NOWHERE)
        return {
            "HOME": str(self.home),
            "PATH": os.pathsep.join(filter(None, [node, "/usr/local/bin", "/usr/bin", "/bin"])),
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "SHELL": "/bin/sh",
            "TMPDIR": str(self.folder),
            **proxies,
            "NO_PROXY": "127.0.0.1,localhost",
            "no_proxy": "127.0.0.1,localhost",
            **(more or {}),
        }

    def write(self, name: str, text: str) -> Path:
        """A file by its path from the stage's folder."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def configure(self, settings: str = "", hooks: str = "") -> None:
        """The person's own settings and hooks."""
        self.write("home/.config/snell/snell.toml", f'packs = ["live"]\n{settings}')
        self.write("home/.config/snell/live/pack.toml", 'name = "live"\n')
        self.write("home/.config/snell/live/rules.py", hooks)

    def snell(self, *words: str) -> str:
        """What one of our commands shows at the person's terminal; it has to end well."""
        ours, theirs = pty.openpty()
        ends = {"stdin": theirs, "stdout": theirs, "stderr": theirs}
        command = [sys.executable, "-m", "snell", *as_person(words, self.env())]
        with subprocess.Popen(command, cwd=self.project, env=self.env(), **ends) as process:
            os.close(theirs)
            shown = b""
            with suppress(OSError):  # how a terminal says that no process writes any more
                while part := os.read(ours, 65536):
                    shown += part
            os.close(ours)
            code = process.wait(60)
        assert code == 0, shown.decode()
        return shown.decode()

    def run(self, words: Sequence[str], env: Mapping[str, str], *, typed: str = "", seconds: float = 110) -> Ran:
        """One run of the client, ended with everything it started when it takes too long."""
        process = subprocess.Popen(
            [str(word) for word in words],
            cwd=self.project,
            env=self.env(env),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            out, err = process.communicate(typed.encode(), timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
        return Ran(process.returncode, out.decode("utf-8", "replace"), err.decode("utf-8", "replace"))

    def homes_files(self) -> dict[str, tuple[int, bytes]]:
        """What is in the home, its mode and its bytes, apart from what is Snell's own."""
        found = {}
        for root, folders, names in os.walk(self.home):
            inside = [os.path.relpath(os.path.join(root, name), self.home) for name in (*folders, *names)]
            folders[:] = [name for name in folders if os.path.relpath(os.path.join(root, name), self.home) not in OURS]
            found |= {name: _content(self.home / name) for name in inside if name not in (*OURS, *OUR_PARENTS)}
        return found

    def close(self) -> None:
        command = [sys.executable, "-m", "snell", "daemon", "stop"]
        subprocess.run(command, env=self.env(), cwd=self.project, capture_output=True, timeout=60)
        self._end_what_stays()

    def _end_what_stays(self) -> None:
        """A client may leave a service of its own behind; it is known by the home that only this stage has."""
        mine = f"HOME={self.home}".encode()
        for path in Path("/proc").glob("[0-9]*/environ"):
            with suppress(OSError):
                if mine in path.read_bytes().split(b"\0"):
                    os.kill(int(path.parent.name), signal.SIGKILL)


def _content(path: Path) -> tuple[int, bytes]:
    if path.is_symlink():
        return path.lstat().st_mode, os.readlink(path).encode()
    return path.lstat().st_mode, path.read_bytes() if path.is_file() else b""
