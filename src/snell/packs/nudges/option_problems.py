"""What is wrong with what a user tells this pack."""

from collections.abc import Iterator, Mapping
from typing import Any


def option_problems(options: Mapping[str, Any]) -> list[str]:
    every = options.get("commit_point_every", 0)
    late = [f"`commit_point_every` is {every}; it is a number of seconds, 0 for at every stop"] if every < 0 else []
    return [*late, *_of_routes(options.get("routes", {}))]


def _of_routes(routes: Mapping[str, Any]) -> Iterator[str]:
    for word, target in routes.items():
        shown = word[:80]
        if not isinstance(target, str):
            yield f'`routes`: `{shown}` points at {type(target).__name__}, not text; write `{shown} = "/command"`'
        elif not word.isalpha() or len(word) < 3:
            yield f"`routes`: `{shown}` is never heard; a route listens to one word of at least three letters"
