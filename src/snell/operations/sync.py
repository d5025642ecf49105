"""Calls of a house that shares its work with other machines; in any other house they are what they were."""

from collections.abc import Callable, Mapping
from typing import Any

from snell.operations.run_in_thread import Call, aside
from snell.runtime.app import House
from snell.work import efforts
from snell.work.rows import Record

SECONDS = 3.0  # that somebody at a terminal waits for the server


def met(call: Call) -> Call:
    """A daemon that has just begun looks at what the others have before it answers."""

    def answer(house: House, arguments: Mapping[str, Any], env: Mapping[str, str]) -> Any:
        if house.team is None or house.team.has_met:
            return call(house, arguments, env)
        return aside(_after_catching_up(call))(house, arguments, env)

    return answer


def together(call: Call, effort_in: Callable[[Any], Record] = lambda answer: answer["effort"]) -> Call:
    """
    What others began is known before an effort is begun here, and its ordinal is the server's word.

    With the server away it is begun all the same; if others began one meanwhile, it gets another ordinal later.
    """

    def begun(house: House, arguments: Mapping[str, Any], env: Mapping[str, str]) -> Any:
        answer = _after_catching_up(call)(house, arguments, env)
        assert house.team is not None
        assert house.database is not None
        house.team.catch_up(SECONDS)
        effort = effort_in(answer)
        effort.update(house.database.run(lambda tx: efforts.get(tx, effort["id"])))
        return answer

    def answer(house: House, arguments: Mapping[str, Any], env: Mapping[str, str]) -> Any:
        return call(house, arguments, env) if house.team is None else aside(begun)(house, arguments, env)

    return answer


def told(call: Call) -> Call:
    """What others may be waiting for is told before the answer: they go on from here."""

    def answered(house: House, arguments: Mapping[str, Any], env: Mapping[str, str]) -> Any:
        answer = call(house, arguments, env)
        assert house.team is not None
        house.team.catch_up(SECONDS)
        return answer

    def answer(house: House, arguments: Mapping[str, Any], env: Mapping[str, str]) -> Any:
        return call(house, arguments, env) if house.team is None else aside(answered)(house, arguments, env)

    return answer


def _after_catching_up(call: Call) -> Call:
    def answer(house: House, arguments: Mapping[str, Any], env: Mapping[str, str]) -> Any:
        assert house.team is not None
        house.team.catch_up(SECONDS)
        return call(house, arguments, env)

    return answer
