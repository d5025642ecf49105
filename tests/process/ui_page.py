"""`snell ui` as a process of its own, events to be seen on its page, and requests as a browser sends them."""

import http.client
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct

from tests.fork_server import run_snell

PAGES = ("/", "/sessions", "/ledger", "/hooks", "/memories", "/fleet", "/health")
LIMIT = 60.0  # seconds; a hang bound


class Answer(Struct, frozen=True):
    status: int
    headers: dict[str, str]
    text: str


class UiPage:
    """A home, and the page of `snell ui` there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home, self.project = folder / "h", folder / "project"
        self.project.mkdir()
        self.env = {"PATH": os.environ["PATH"], "HOME": str(folder), "SNELL_HOME": str(self.home), "TZ": "UTC"}
        self.link, self.cookie = "", ""

    def snell(self, *words: str, given: bytes = b"") -> str:
        code, out, err = run_snell(*words, cwd=self.project, env=self.env, given=given)
        assert code in (0, 2), err
        return out

    def fire(self, command: str, session: str = "one", tool: str = "Bash", **more: Any) -> None:
        """Send a tool call, as a client does."""
        payload = {
            "hook_event_name": "PreToolUse",
            "tool_name": tool,
            "tool_input": {"command": command},
            "tool_use_id": f"{session}-{len(command)}-{hash(command) & 0xFFFF}",
            "session_id": session,
            "cwd": str(self.project),
            **more,
        }
        self.snell("hook", "--client", "claude-code", given=json.dumps(payload).encode())

    @contextmanager
    def served(self, **env: str) -> Iterator[subprocess.Popen[str]]:
        """Serve the page; its link is in `link`."""
        command = [sys.executable, "-m", "snell", "ui", "--no-open"]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, encoding="utf-8", env={**self.env, **env}, cwd=self.project
        ) as process:
            try:
                assert process.stdout
                first = process.stdout.readline()
                assert first.startswith("Open http://127.0.0.1:"), first
                self.link, self.cookie = first.split()[1], ""
                yield process
            finally:
                process.kill()

    @property
    def address(self) -> str:
        return urlsplit(self.link).netloc

    def get(self, path: str, **headers: str) -> Answer:
        return self.ask("GET", path, headers)

    def ask(self, method: str, path: str, headers: Mapping[str, str], body: str = "") -> Answer:
        """Send a request with the cookie; `Host` and others may be replaced, with `_` for `-` in names."""
        connection = http.client.HTTPConnection(self.address, timeout=LIMIT)
        given = {"Host": self.address, "Cookie": self.cookie, **{k.replace("_", "-"): v for k, v in headers.items()}}
        connection.request(method, path, body or None, {name: value for name, value in given.items() if value})
        found = connection.getresponse()
        answer = Answer(found.status, {k.lower(): v for k, v in found.getheaders()}, found.read().decode())
        connection.close()
        return answer

    def open(self) -> Answer:
        """Use the link, and keep its cookie."""
        parts = urlsplit(self.link)
        answer = self.get(f"{parts.path}?{parts.query}")
        self.cookie = answer.headers.get("set-cookie", "").partition(";")[0]
        return answer

    @contextmanager
    def stream(self) -> Iterator[Iterator[str]]:
        """Open the stream of changes; yields its messages as they come."""
        connection = http.client.HTTPConnection(self.address, timeout=LIMIT)
        connection.request("GET", "/live", headers={"Cookie": self.cookie})
        found = connection.getresponse()
        assert found.status == 200
        try:
            yield (line.decode()[6:].strip() for line in found if line.startswith(b"data: "))
        finally:
            found.close()
            connection.close()
