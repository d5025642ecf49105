"""What may happen while a hook runs: the machine is slow, the process is killed, time is over, the disk is full."""

import os
import resource
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from snell.handlers.command import Command
from snell.model.decision import Decision
from snell.model.events import Event
from snell.model.hooks import Hook
from snell.testing.run_cases import runtime_for

SOON = 0.4  # seconds until the fault, or its end
SHORT = 1.0  # the time limit of a hook that hangs


def decide_slowly(subject: Path, event: Event) -> Decision:
    """Decide while the hook's process gets no processor time for a moment."""
    return _decide_stopped(subject, event, lambda pid: os.kill(pid, signal.SIGCONT), _before(f"sleep {SOON}; "))


def decide_killed(subject: Path, event: Event) -> Decision:
    """Decide while the hook's process is killed."""
    return _decide_stopped(subject, event, lambda pid: os.kill(pid, signal.SIGKILL), _instead("kill -9 $$"))


def decide_over_time(subject: Path, event: Event) -> Decision:
    """Decide while the hook never answers; its time limit is lowered for that."""
    hang = _instead("exec sleep 60")
    return _decide_stopped(
        subject, event, lambda _pid: None, lambda hook: replace(hang(hook), timeout=min(hook.timeout, SHORT))
    )


def decide_on_full_disk(subject: Path, event: Event) -> Decision:
    """Decide while the hook's process can write no file."""
    with runtime_for(subject, _before("ulimit -f 0; ")) as (runtime, _):
        for pid in _children():
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, 0))
        return runtime.decide(event)


def _decide_stopped(
    subject: Path, event: Event, then: Callable[[int], None], change: Callable[[Hook], Hook]
) -> Decision:
    """Decide with the worker process stopped, and do something to it soon."""
    with runtime_for(subject, change) as (runtime, _):
        workers = _children()
        for pid in workers:
            os.kill(pid, signal.SIGSTOP)
        timer = threading.Timer(SOON, _do_to_all, (then, workers))
        timer.start()
        try:
            return runtime.decide(event)
        finally:
            timer.cancel()
            _do_to_all(lambda pid: os.kill(pid, signal.SIGCONT), workers)


def _do_to_all(action: Callable[[int], None], workers: list[int]) -> None:
    for pid in workers:
        with suppress(ProcessLookupError):  # it has been replaced
            action(pid)


def _children() -> list[int]:
    """Return the processes that this one has started: the worker."""
    tasks = Path("/proc/self/task").glob("*/children")
    return [int(pid) for task in tasks for pid in task.read_text(encoding="ascii").split()]


def _before(words: str) -> Callable[[Hook], Hook]:
    """Return how a command hook does something first; other hooks stay as they are."""

    def change(hook: Hook) -> Hook:
        command = hook.handler
        if not isinstance(command, Command):
            return hook
        if command.args is None:
            return replace(hook, handler=replace(command, command=words + command.command))
        shell = ("-c", f'{words} exec "$0" "$@"', command.command, *command.args)
        return replace(hook, handler=replace(command, command="/bin/sh", args=shell))

    return change


def _instead(words: str) -> Callable[[Hook], Hook]:
    def change(hook: Hook) -> Hook:
        command = hook.handler
        return (
            replace(hook, handler=replace(command, command=words, args=None)) if isinstance(command, Command) else hook
        )

    return change
