"""
An agent in the foreground, and whoever starts it anew.

The agent has the terminal; the supervisor waits, asks now and then whether a restart is wanted, ends the agent (TERM,
and KILL after a moment) and starts it again with a fresh window. It answers for its own child alone.
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

LOOK = 0.2  # seconds between two questions whether a restart is wanted
GRACE = 1.0  # between TERM and KILL
QUICK = 5.0  # an agent that ends sooner than this did not really work
QUICK_IN_A_ROW = 3
# How each client is told to go on with an old conversation: words that may name it, and words that need not.
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
OF_OTHERS = (frozenset({"--resume"}), frozenset[str]())  # it says what it means; a short one may mean anything
TAKES_A_PROMPT = frozenset({"claude", "codex"})  # as their last word


class Restart(Struct, frozen=True):
    reason: str
    prompt: str = ""


class Run(Struct, frozen=True, kw_only=True):
    """One agent, and what is asked about it."""

    command: Sequence[str]
    env: Mapping[str, str]
    wanted: Callable[[], Restart | None]  # asked while the agent runs
    left: Callable[[], Restart | None]  # asked once when it has ended by itself
    tell: Callable[[str], None]
    most: int = 10


def supervise(run: Run) -> int:
    """Run the agent until it ends and nobody wants it back; returns its exit code."""
    command, restarts, quick = list(run.command), 0, 0
    while True:
        began = time.monotonic()
        code, restart = _one_window(run, command)
        lasted = time.monotonic() - began
        if restart is None and code != 0 and lasted <= QUICK and (fresh := without_resuming(command)) != command:
            run.tell("the session to be resumed is not there any more; starting a fresh one")
            command = fresh
            continue
        if restart is None:
            return code
        restarts, quick = restarts + 1, quick + 1 if lasted <= QUICK else 0
        if restarts > run.most or quick >= QUICK_IN_A_ROW:
            run.tell(_gave_up(run.most, restarts, quick))
            return code or 1
        run.tell(f"the window is over ({restart.reason}); starting the next one, {restarts} of {run.most}")
        command = next_command(run.command, restart.prompt)


def next_command(command: Sequence[str], prompt: str) -> list[str]:
    """
    The same agent with a new window: nothing is resumed, and it is told to go on where it can be told.

    A command that has a prompt of its own gets that one again, since these clients read one only; what was done
    comes with the start of the window. The dashes keep an option that takes a list from taking the prompt as well.
    """
    fresh = without_resuming(command)
    takes_it = os.path.basename(fresh[0]) in TAKES_A_PROMPT
    return [*fresh, *(() if "--" in fresh else ("--",)), prompt] if takes_it and prompt else fresh


def without_resuming(command: Sequence[str]) -> list[str]:
    """The command without what names an old conversation; what follows two dashes is no option."""
    naming, plain = RESUMES.get(os.path.basename(command[0]), OF_OTHERS)
    kept: list[str] = [command[0]]
    words = list(command[1:])
    while words and words[0] != "--":
        word = words.pop(0)
        name, _, value = word.partition("=")
        if name in naming and not value and words and not words[0].startswith("-"):
            words.pop(0)
        elif name not in naming and word not in plain:
            kept.append(word)
    return [*kept, *words]


def _one_window(run: Run, command: Sequence[str]) -> tuple[int, Restart | None]:
    try:
        child = subprocess.Popen(command, env=dict(run.env))
    except OSError as error:
        raise SnellError(f"`{command[0]}` cannot be started: {error.strerror}", advice="check its name") from None
    with _terminal_kept(), _signals_passed_to(child):
        restart = _watched(child, run)
    return child.returncode, restart or run.left()


def _watched(child: "subprocess.Popen[Any]", run: Run) -> Restart | None:
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(LOOK)
            return None
        restart = run.wanted()
        if restart:
            _end(child)
            return restart


def _end(child: "subprocess.Popen[Any]") -> None:
    child.terminate()
    try:
        child.wait(GRACE)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


@contextlib.contextmanager
def _signals_passed_to(child: "subprocess.Popen[Any]") -> Iterator[None]:
    """What ends us ends the agent; an interrupt from the terminal reaches it anyway, and is its business."""

    def passed(number: int, _frame: Any) -> None:
        with contextlib.suppress(OSError):
            child.send_signal(number)

    before = {number: signal.signal(number, passed) for number in (signal.SIGTERM, signal.SIGHUP)}
    before[signal.SIGINT] = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def _terminal_kept() -> Iterator[None]:
    """An agent that is ended in the middle of something may leave the terminal in a state."""
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


def _gave_up(most: int, restarts: int, quick: int) -> str:
    if quick >= QUICK_IN_A_ROW:
        return f"given up: the agent ended within {QUICK:g} s {quick} times in a row; look at why, then start it again"
    return f"given up after {most} restarts; `--restarts` sets how many, and `snell effort show` says where it stands"
