"""Tell whether the user sees an ask: some clients silently drop it when they run without a user."""

import re

from snell.clients.protocol.table import ClientTable

_LETTERS = re.compile(r"-([A-Za-z]+)")  # short options may be written together, and with their value


def reaches_person(table: ClientTable, hook: int) -> bool:
    """
    Return whether the user sees an ask of the client that started the process `hook`.

    Returns False if that is unknown: a refusal is visible, a dropped ask is not.
    """
    if table.one_shot is None:
        return True
    from snell.system.client_process import client_process  # slow to import, and asks are rare

    client = client_process(hook)
    return client is not None and client.has_terminal and not _is_one_shot(table.one_shot, client.words)


def _is_one_shot(one_shot: frozenset[str], words: tuple[str, ...]) -> bool:
    return any(not one_shot.isdisjoint(_options(word)) for word in words)


def _options(word: str) -> list[str]:
    """Return the options that one word of a command line may mean."""
    letters = _LETTERS.match(word)
    return [word.partition("=")[0], *(f"-{letter}" for letter in (letters[1] if letters else ""))]
