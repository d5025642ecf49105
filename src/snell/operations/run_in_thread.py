"""Calls that take long enough for others to notice."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from snell.runtime.app import Runtime

Call = Callable[[Runtime, Mapping[str, Any], Mapping[str, str]], Any]


def run_in_thread(call: Call) -> Call:
    """In a daemon the call goes to a thread, and its loop goes on meanwhile; elsewhere it is a plain call."""

    def answer(runtime: Runtime, arguments: Mapping[str, Any], env: Mapping[str, str]) -> Any:
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return call(runtime, arguments, env)
        return loop.run_in_executor(None, call, runtime, arguments, env)

    return answer
