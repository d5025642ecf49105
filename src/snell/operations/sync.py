"""Wrap operations so that they sync with other machines; without a shared server they are unchanged."""

from collections.abc import Callable, Mapping
from typing import Any

from snell.operations import Call, run_in_thread
from snell.runtime.app import Runtime
from snell.work import efforts
from snell.work.rows import Record

SECONDS = 3.0  # that a user at a terminal waits for the server


def sync_before(call: Call) -> Call:
    """Sync before the call, if this daemon has not synced with the server yet."""

    def answer(runtime: Runtime, arguments: Mapping[str, Any], env: Mapping[str, str]) -> Any:
        if runtime.team is None or runtime.team.has_connected:
            return call(runtime, arguments, env)
        return run_in_thread(_after_catching_up(call))(runtime, arguments, env)

    return answer


def sync_around(call: Call, effort_in: Callable[[Any], Record] = lambda answer: answer["effort"]) -> Call:
    """
    Sync before and after the start of an effort, so that the server assigns its ordinal.

    If the server cannot be reached, the effort is started anyway, and may get another ordinal later.
    """

    def run(runtime: Runtime, arguments: Mapping[str, Any], env: Mapping[str, str]) -> Any:
        answer = _after_catching_up(call)(runtime, arguments, env)
        assert runtime.team is not None
        assert runtime.database is not None
        runtime.team.catch_up(SECONDS)
        effort = effort_in(answer)
        effort.update(runtime.database.run(lambda tx: efforts.get(tx, effort["id"])))
        return answer

    def answer(runtime: Runtime, arguments: Mapping[str, Any], env: Mapping[str, str]) -> Any:
        return call(runtime, arguments, env) if runtime.team is None else run_in_thread(run)(runtime, arguments, env)

    return answer


def sync_after(call: Call) -> Call:
    """Sync after the call and before its result is returned: other machines may continue the work at once."""

    def run(runtime: Runtime, arguments: Mapping[str, Any], env: Mapping[str, str]) -> Any:
        answer = call(runtime, arguments, env)
        assert runtime.team is not None
        runtime.team.catch_up(SECONDS)
        return answer

    def answer(runtime: Runtime, arguments: Mapping[str, Any], env: Mapping[str, str]) -> Any:
        return call(runtime, arguments, env) if runtime.team is None else run_in_thread(run)(runtime, arguments, env)

    return answer


def _after_catching_up(call: Call) -> Call:
    def answer(runtime: Runtime, arguments: Mapping[str, Any], env: Mapping[str, str]) -> Any:
        assert runtime.team is not None
        runtime.team.catch_up(SECONDS)
        return call(runtime, arguments, env)

    return answer
