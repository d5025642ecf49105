"""A client at a terminal: a tmux of its own shows what the client shows, and types what a person types."""

import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from tests.waiting import first_true

COLUMNS, LINES = 140, 50
SECONDS = 90  # for one step of a client on a busy machine


class Terminal:
    """Use it in a `with` block: at the end everything that it has started is ended."""

    def __init__(self, folder: Path, words: Sequence[str], where: Path, env: Mapping[str, str]) -> None:
        if not shutil.which("tmux"):
            pytest.skip("there is no tmux on this machine")
        self._socket = str(folder / "tmux.sock")
        size = ("-x", str(COLUMNS), "-y", str(LINES))
        kept = [f"{name}={value}" for name, value in {**env, "TERM": "tmux-256color"}.items()]
        # `env` inside: tmux keeps some names of its own server's environment. The shell stays when the client ends.
        command = ["env", *kept, "sh", "-c", '"$@"; echo THE-CLIENT-HAS-ENDED $?; cat', "sh", *map(str, words)]
        subprocess.run(
            [*self._tmux(), "-f", "/dev/null", "new-session", "-d", *size, "-c", str(where), *command],
            env={**env, "TERM": "xterm-256color"},
            check=True,
            timeout=30,
        )

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(subprocess.SubprocessError):
            subprocess.run([*self._tmux(), "kill-server"], capture_output=True, timeout=30)

    @property
    def shown(self) -> str:
        """The text on the screen and above it."""
        words = [*self._tmux(), "capture-pane", "-p", "-J", "-S", "-2000"]
        return subprocess.run(words, capture_output=True, text=True, timeout=30).stdout

    def wait_for(self, condition: str | Callable[[], object], seconds: float = SECONDS) -> None:
        """Until a text is on the screen, or something else has happened."""
        met = (lambda: condition in self.shown) if isinstance(condition, str) else condition
        assert first_true(met, seconds), f"{condition} is not there after {seconds:g} s:\n{self.shown}"

    def press_until(
        self, keys: str | Sequence[str], condition: str | Callable[[], object], seconds: float = SECONDS
    ) -> None:
        """Press keys again and again: one that comes before the client listens is lost."""
        words = [keys] if isinstance(keys, str) else keys
        met = (lambda: condition in self.shown) if isinstance(condition, str) else condition
        is_met = lambda: met() or (self.type(*words), first_true(met, 1.0))[1]  # noqa: E731 - pressed, then looked at
        assert first_true(is_met, seconds), f"{condition} is not there after {seconds:g} s:\n{self.shown}"

    def type(self, *keys: str) -> None:
        """Press keys by tmux's names for them, such as Enter; any other text is typed as it is."""
        subprocess.run([*self._tmux(), "send-keys", *keys], check=True, timeout=30)

    def _tmux(self) -> list[str]:
        return ["tmux", "-S", self._socket]
