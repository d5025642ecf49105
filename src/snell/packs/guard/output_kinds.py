"""Classify what a command prints: secrets, personal data, or shell code for `eval`."""

from collections.abc import Sequence

from snell.packs.guard.known_names import pattern
from snell.shell.arguments import arguments_of, matches_any
from snell.shell.programs import program_row

_INIT_WORD = pattern("prints_code_for_shells")


def prints_secret(program: str, args: Sequence[str]) -> bool:
    """Tell whether the command prints secrets of a store, or a tool's own token."""
    phrases = program_row(program).prints_secrets
    return bool(phrases) and matches_any(arguments_of(program, args), phrases)


def prints_personal(program: str, args: Sequence[str]) -> bool:
    """Tell whether the command prints personal data: fine to read here, not to send."""
    phrases = program_row(program).prints_personal
    return bool(phrases) and matches_any(arguments_of(program, args), phrases)


def prints_shell_code(program: str, args: Sequence[str]) -> bool:
    """Tell whether the output is made for the calling shell to run: `eval "$(ssh-agent)"`."""
    when = program_row(program).prints_code
    return when == "always" or (when == "by_word" and any(map(_INIT_WORD.match, args[:3])))
