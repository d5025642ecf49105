"""Calls of a house that shares its work with other machines; in any other house they are what they were."""

from collections.abc import Callable, Mapping
from typing import Any

from snell.operations.run_in_thread import Call, run_in_thread
from snell.runtime.app import Runtime
from snell.work import efforts
from snell.work.rows import Record

SECONDS = 3.0  # that somebody at a terminal waits for the server


def sync_before(call: Call) -> Call:
    """A daemon that has just begun looks at what the others have before it answers."""

    def answer(runtime: Runtime, arguments: Mapping[str, Any], env: Mapping[str, str]) -> Any:
        if runtime.team is None or runtime.team.has_connected:
            return call(runtime, arguments, env)
        return run_in_thread(_after_catching_up(call))(runtime, arguments, env)

    return answer


def sync_around(call: Call, effort_in: Callable[[Any], Record] = lambda answer: answer["effort"]) -> Call:
    """
    What others began is known before an effort is begun here, and its ordinal is the server's word.

    With the server away it is begun all the same; if others began one meanwhile, it gets another ordinal later.
    """

    def begun(runtime: Runtime, arguments: Mapping[str, Any], env: Mapping[str, str]) -> Any:
        answer = _after_catching_up(call)(runtime, arguments, env)
        assert runtime.team is not None
        assert runtime.database is not None
        runtime.team.catch_up(SECONDS)
        effort = effort_in(answer)
        effort.update(runtime.database.run(lambda tx: efforts.get(tx, effort["id"])))
        return answer

    def answer(runtime: Runtime, arguments: Mapping[str, Any], env: Mapping[str, str]) -> Any:
        return call(runtime, arguments, env) if runtime.team is None else run_in_thread(begun)(runtime, arguments, env)

    return answer


def sync_after(call: Call) -> Call:
    """What others may be waiting for is told before the answer: they go on from here."""

    def answered(runtime: Runtime, arguments: Mapping[str, Any], env: Mapping[str, str]) -> Any:
        answer = call(runtime, arguments, env)
        assert runtime.team is not None
        runtime.team.catch_up(SECONDS)
        return answer

    def answer(runtime: Runtime, arguments: Mapping[str, Any], env: Mapping[str, str]) -> Any:
        return (
            call(runtime, arguments, env) if runtime.team is None else run_in_thread(answered)(runtime, arguments, env)
        )

    return answer


def _after_catching_up(call: Call) -> Call:
    def answer(runtime: Runtime, arguments: Mapping[str, Any], env: Mapping[str, str]) -> Any:
        assert runtime.team is not None
        runtime.team.catch_up(SECONDS)
        return call(runtime, arguments, env)

    return answer
