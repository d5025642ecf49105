"""Check the options of this pack."""

from collections.abc import Iterator, Mapping
from typing import Any


def option_problems(options: Mapping[str, Any]) -> list[str]:
    """Return what is wrong with the options, one sentence each."""
    every = options.get("commit_point_every", 0)
    below = [f"`commit_point_every` is {every}; it must be a number of seconds, 0 for every stop"] if every < 0 else []
    return [*below, *_route_problems(options.get("routes", {}))]


def _route_problems(routes: Mapping[str, Any]) -> Iterator[str]:
    for word, target in routes.items():
        shown = word[:80]
        if not isinstance(target, str):
            yield f'`routes`: `{shown}` is {type(target).__name__}, not text; write `{shown} = "/command"`'
        elif not word.isalpha() or len(word) < 3:
            yield f"`routes`: `{shown}` never matches; a keyword is one word of at least three letters"
