"""A user's folders and a shell of theirs, a program that opens a terminal for a command, and a container."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SYSTEM_PYTHON = "/usr/bin/python3"
PROGRAMS = "/usr/share/doc"  # a folder of the system that no program of the tests needs
PAUSE = [sys.executable, "-m", "snell", "pause", "5"]
# Opens a terminal for a command, as a terminal emulator does; answers the letters or types what it is given.
HOST = """
import os, pty, re, sys
answer, command = sys.argv[1], sys.argv[2:]
pid, terminal = pty.fork()
if pid == 0:
    os.environ.pop("PYTHONHOME", None)
    os.execv(command[0], command)
shown = b""
while True:
    try:
        part = os.read(terminal, 65536)
    except OSError:
        break
    if not part:
        break
    shown += part
    asked = re.search(rb"Type ([A-Z]+) to go on: $|\\[y/N\\] $", shown)
    if asked:
        os.write(terminal, (asked[1] if answer == "letters" else answer.encode()) + b"\\n")
        shown += b" "
os.waitpid(pid, 0)
sys.stdout.buffer.write(shown)
"""


class Home:
    """A user's folders, and the environment of a shell of theirs without any client's variables."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.state = folder / "h" / "state"
        self.env = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "SNELL_HOME": str(folder / "h"), "LANG": "C.UTF-8"}

    def run(self, command: list[str], **env: str) -> str:
        """Run a command without a terminal; return all that it shows."""
        done = subprocess.run(
            command,
            env={**self.env, **env},
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            timeout=100,
            check=False,
        )
        return done.stdout.decode()

    def program(self, name: str, text: str) -> str:
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)
        return str(path)

    def copy(self, name: str) -> tuple[list[str], dict[str, str]]:
        """A copy of Python under this name that opens a terminal for a command: its words, and variables."""
        copy = shutil.copy(os.path.realpath(sys.executable), self.folder / name)
        return [str(copy), "-c", HOST], {"PYTHONHOME": sys.base_prefix}

    def installed(self, name: str) -> list[str]:
        """The words of a program of this name that an administrator installed and that opens a terminal."""
        shutil.copy(os.path.realpath(SYSTEM_PYTHON), self.folder / name)
        install = f'mount --bind {self.folder} {PROGRAMS} && exec {PROGRAMS}/{name} "$@"'
        return ["/usr/bin/unshare", "-m", "/bin/sh", "-c", install, "sh", "-c", HOST]

    @property
    def is_paused(self) -> bool:
        return "only policy hooks" in self.run([sys.executable, "-m", "snell", "pause"]) or (
            "paused by a person" in self.run([sys.executable, "-m", "snell", "pause"])
        )


def in_container(command: list[str]) -> list[str]:
    """Run a command as the first process of a container does: on a terminal that was opened outside."""
    return ["/usr/bin/unshare", "-pf", "--mount-proc", "/usr/bin/setsid", "-c", *command]


needs_root = pytest.mark.skipif(
    sys.platform != "linux"
    or subprocess.run([*in_container([])[:3], "true"], capture_output=True, check=False).returncode != 0,
    reason="this user cannot start a container",
)


needs_system_python = pytest.mark.skipif(not os.path.exists(SYSTEM_PYTHON), reason="the system has no Python")


def refused(home: Home, said: str) -> bool:
    return "needs a person" in said and not home.is_paused
