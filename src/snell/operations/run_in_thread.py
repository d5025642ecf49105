"""Calls that take long enough for others to notice."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from snell.runtime.app import House

Call = Callable[[House, Mapping[str, Any], Mapping[str, str]], Any]


def aside(call: Call) -> Call:
    """In a daemon the call goes to a thread, and its loop goes on meanwhile; elsewhere it is a plain call."""

    def answer(house: House, arguments: Mapping[str, Any], env: Mapping[str, str]) -> Any:
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return call(house, arguments, env)
        return loop.run_in_executor(None, call, house, arguments, env)

    return answer
