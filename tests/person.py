"""
A person's consent for commands that tests run without a terminal: a one-time code, made in the test's own folder.

The code is made by the same function as by `snell code`, which needs a terminal of a person. A process of the same user
that can write into that folder can do this too; see the page on security.
"""

from collections.abc import Mapping, Sequence

from snell.cli.confirmation import is_agent
from snell.cli.person.check import state_folder
from snell.cli.person.codes import issue
from snell.system.paths import PlaceError

_FREE = {"--print", "--check", "--list", "--revoke", "--show", "--end", "--help", "--code"}
_VERBS = {
    "ledger": ("release",),
    "tools": ("learn", "forget"),
    "loop": ("start", "stop"),
    "record": ("on", "off"),
    "runs": ("start", "cancel", "approve", "finish", "replay"),
}
_COMMANDS = ("trust", "setup", "pause", "allow")


def as_person(words: Sequence[str | bytes], env: Mapping[str, str], *, at_terminal: bool = False) -> list[str | bytes]:
    """Return the words of a command, with a code if it needs a person; the environment of an agent gets none."""
    given = [*words]
    is_needed = at_terminal and given[0] in _COMMANDS
    if not (is_needed or _needs_person([word for word in given if isinstance(word, str)])) or is_agent(env):
        return given
    try:
        return [given[0], *_verb_of(given), "--code", issue(state_folder(env)), *given[1 + len(_verb_of(given)) :]]
    except (PlaceError, OSError):
        return given  # a test about a folder that cannot be used


def _needs_person(words: Sequence[str]) -> bool:
    if not words or _FREE.intersection(words):
        return False
    name, verb = words[0], words[1] if len(words) > 1 else ""
    if name in ("trust", "setup") and not {"--hash", "--yes", "--plugin", "--memory", "--no-memory"}.intersection(
        words
    ):
        return False  # it only shows, or asks
    return name in _COMMANDS or verb in _VERBS.get(name, ()) or "--yes" in words


def _verb_of(words: Sequence[str | bytes]) -> list[str | bytes]:
    return [*words[1:2]] if words[0] not in (*_COMMANDS, "ledger", "tools") else []
