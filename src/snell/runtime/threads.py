"""A plain function in a thread, for whoever waits in an event loop."""

import asyncio
from collections.abc import Callable
from typing import Any


async def run_in_thread(function: Callable[..., Any], *arguments: Any) -> Any:
    """What the function returns or raises. It cannot be ended: who stops waiting leaves it behind."""
    return await asyncio.to_thread(_called, function, arguments)


def _called(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    try:
        return function(*arguments)
    except StopIteration as error:  # no future can hold it, and whoever waits for one would wait forever
        raise RuntimeError(str(error) or "StopIteration") from error
