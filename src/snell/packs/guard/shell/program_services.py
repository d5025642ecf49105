"""Databases and clouds that a short program empties or takes down, as the commands that would do the same."""

import re
from collections.abc import Callable, Iterator

from snell.packs.guard.shell.program_patterns import pattern
from snell.system.lazy_regex import lazy_regex

_CHANGES = lazy_regex(r"\s*(?:drop|truncate|delete|update|alter)\b", re.IGNORECASE)
_MEMORY = lazy_regex(r"^:memory:$|mode=memory|sqlite://$|sqlite:///:memory:")


def service_commands(masked: str, strings: list[str], at: Callable[[str], str]) -> Iterator[tuple[str, ...]]:
    """Yield commands with the same effect on databases, clouds and sockets as the program."""
    if not any(_MEMORY.search(text) for text in strings):  # such a database is gone when the program ends
        yield from _database_commands(masked, strings, at)
    sockets = (at(found[1]) for found in pattern("connects_to_file").finditer(masked))
    yield from (("nc", "-U", path) for path in sockets if path.endswith(".sock"))
    yield from (("curl", "-X", "DELETE", at(found[1])) for found in pattern("delete_request").finditer(masked))
    if pattern("clouds").search(masked) or any(map(pattern("clouds").match, strings)):
        for found in pattern("takes_down").finditer(masked):
            verb = re.sub(r"(?<=[a-z])(?=[A-Z])|_", "-", found[1]).lower()
            yield "aws", verb.removeprefix("begin-")


def _database_commands(masked: str, strings: list[str], at: Callable[[str], str]) -> Iterator[tuple[str, ...]]:
    for found in pattern("statement").finditer(masked) if any(map(_CHANGES.match, strings)) else ():
        text = at(next(group for group in found.groups() if group))
        if _CHANGES.match(text):
            yield "psql", "-c", text
    yield from (("dropdb", found[0].strip("( ")) for found in pattern("empties").finditer(masked))
