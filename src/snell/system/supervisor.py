"""
Run an agent in the foreground and restart it on request.

The agent has the terminal; the supervisor waits, asks regularly whether a restart is wanted, ends the agent (SIGTERM,
then SIGKILL) and starts it again with a new context window. It controls its own child only.
"""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from snell.model.errors import SnellError

LOOK = 0.2  # seconds between two checks whether a restart is wanted
GRACE = 1.0  # seconds between SIGTERM and SIGKILL
QUICK = 5.0  # seconds; an agent that ends sooner than this did not really work
QUICK_IN_A_ROW = 3
# How each client is told to resume a conversation: words that may be followed by its name, and words that are not.
RESUMES: Mapping[str, tuple[frozenset[str], frozenset[str]]] = {
    "claude": (frozenset({"--resume", "-r"}), frozenset({"--continue", "-c", "--fork-session"})),
    "codex": (frozenset({"resume"}), frozenset({"--last"})),
    "copilot": (frozenset({"--resume"}), frozenset({"--continue"})),
    "cursor-agent": (frozenset({"--resume"}), frozenset({"resume", "--continue"})),
    "droid": (frozenset({"--resume", "-r"}), frozenset()),
    "gemini": (frozenset({"--resume", "-r"}), frozenset()),
    "opencode": (frozenset({"--session", "-s"}), frozenset({"--continue", "-c"})),
    "qwen": (frozenset({"--resume", "-r"}), frozenset({"--continue", "-c"})),
}
DEFAULT_RESUMES = (frozenset({"--resume"}), frozenset[str]())  # a short option may mean anything
TAKES_A_PROMPT = frozenset({"claude", "codex"})  # as the last argument


class Restart(Struct, frozen=True):
    reason: str
    prompt: str = ""


class Run(Struct, frozen=True, kw_only=True):
    """One agent, and the callbacks that decide about it."""

    command: Sequence[str]
    env: Mapping[str, str]
    wanted: Callable[[], Restart | None]  # called while the agent runs
    left: Callable[[], Restart | None]  # called once when it has ended by itself
    tell: Callable[[str], None]
    most: int = 10


def supervise(run: Run) -> int:
    """Run the agent until it ends and no restart is wanted; returns its exit code."""
    command, restarts, quick = list(run.command), 0, 0
    while True:
        began = time.monotonic()
        code, restart = _run_window(run, command)
        lasted = time.monotonic() - began
        if restart is None and code != 0 and lasted <= QUICK and (fresh := without_resuming(command)) != command:
            run.tell("the session to resume no longer exists; starting a new one")
            command = fresh
            continue
        if restart is None:
            return code
        restarts, quick = restarts + 1, quick + 1 if lasted <= QUICK else 0
        if restarts > run.most or quick >= QUICK_IN_A_ROW:
            run.tell(_stop_message(run.most, restarts, quick))
            return code or 1
        run.tell(f"the window is over ({restart.reason}); starting the next one, {restarts} of {run.most}")
        command = next_command(run.command, restart.prompt)


def next_command(command: Sequence[str], prompt: str) -> list[str]:
    """
    Return the command for a new window: nothing is resumed, and the agent is told to go on if the client can be told.

    A command that has a prompt of its own gets that one again, since these clients read only one; the summary of past
    work comes with the start of the window. The dashes keep an option that takes a list from taking the prompt as well.
    """
    fresh = without_resuming(command)
    takes_it = os.path.basename(fresh[0]) in TAKES_A_PROMPT
    return [*fresh, *(() if "--" in fresh else ("--",)), prompt] if takes_it and prompt else fresh


def without_resuming(command: Sequence[str]) -> list[str]:
    """Return the command without the words that resume a conversation; what follows two dashes is not an option."""
    with_value, without_value = RESUMES.get(os.path.basename(command[0]), DEFAULT_RESUMES)
    kept: list[str] = [command[0]]
    words = list(command[1:])
    while words and words[0] != "--":
        word = words.pop(0)
        name, _, value = word.partition("=")
        if name in with_value and not value and words and not words[0].startswith("-"):
            words.pop(0)
        elif name not in with_value and word not in without_value:
            kept.append(word)
    return [*kept, *words]


def _run_window(run: Run, command: Sequence[str]) -> tuple[int, Restart | None]:
    try:
        child = subprocess.Popen(command, env=dict(run.env))
    except OSError as error:
        raise SnellError(f"`{command[0]}` cannot be started: {error.strerror}", advice="check its name") from None
    with _restore_terminal(), _forward_signals(child):
        restart = _watch(child, run)
    return child.returncode, restart or run.left()


def _watch(child: "subprocess.Popen[Any]", run: Run) -> Restart | None:
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(LOOK)
            return None
        restart = run.wanted()
        if restart:
            child.terminate()
            try:
                child.wait(GRACE)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
            return restart


@contextlib.contextmanager
def _forward_signals(child: "subprocess.Popen[Any]") -> Iterator[None]:
    """Send the agent the signals that end us; it gets an interrupt from the terminal by itself, and handles it."""

    def forward(number: int, _frame: Any) -> None:
        with contextlib.suppress(OSError):
            child.send_signal(number)

    before = {number: signal.signal(number, forward) for number in (signal.SIGTERM, signal.SIGHUP)}
    before[signal.SIGINT] = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def _restore_terminal() -> Iterator[None]:
    """Restore the terminal's settings afterwards: an agent that is killed may leave it in raw mode."""
    if not sys.stdin.isatty():
        yield
        return
    import termios

    before = termios.tcgetattr(0)
    try:
        yield
    finally:
        with contextlib.suppress(termios.error):
            termios.tcsetattr(0, termios.TCSADRAIN, before)


def _stop_message(most: int, restarts: int, quick: int) -> str:
    if quick >= QUICK_IN_A_ROW:
        return f"stopped: the agent ended within {QUICK:g} s {quick} times in a row; find out why, then start it again"
    return f"stopped after {most} restarts; `--restarts` sets the limit, and `snell effort show` shows the progress"
