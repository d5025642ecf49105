"""What a program hands to a child process: the environment, which is not shown by that, or a connection."""

import re
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from snell.packs.guard.shell.program_patterns import pattern
from snell.system.lazy_regex import lazy_regex

_COPIED = r"(?:dict\(\s*|\{\s*(?:\*\*|\.\.\.)|Object\.assign\(\{\},\s*)"
_ALL = rf"{_COPIED}?(?:os\.environ(?:\.copy\(\))?|process\.env)(?![.\[\w])"
_ARGUMENT = lazy_regex(rf"([(,{{]\s*)env\s*[=:]\s*{_ALL}")
_ASSIGNED = lazy_regex(rf"\b(\w+)\s*=\s*{_ALL}")


def without_handed_environment(masked: str) -> str:
    """Return a program without `env=os.environ` and the like, and without variables that are only used so."""
    if "env" not in masked:
        return masked
    masked = _ARGUMENT.sub(r"\1env=0", masked)
    for found in list(_ASSIGNED.finditer(masked)):
        if not _is_shown(found[1], masked):
            masked = masked.replace(found[0], f"{found[1]}=0")
    return masked


def _is_shown(name: str, masked: str) -> bool:
    """Tell whether a variable is used for more than `env=NAME`, its items and changes of them."""
    handed = rf"\benv\s*[=:]\s*{name}\b|[{{,]\s*env\s*(?=[}},])" if name == "env" else rf"\benv\s*[=:]\s*{name}\b"
    rest = re.sub(handed, "", masked)
    change = r"=(?!=)|\[|\.(?:get|pop|update|setdefault)\b|\.\w+\s*=(?!=)"
    return re.search(rf"(?<![\w.]){name}\b(?!\s*(?:{change}))", rest) is not None


# Reads the homes that code names for a Snell that it starts; the guard works without.
HOMES: Any = find_spec("snell.packs.guard.other_snells") and import_module("snell.packs.guard.other_snells.code")


def is_shell_for_others(masked: str, strings: list[str]) -> bool:
    """Tell whether a program opens a connection and starts a shell, or runs the text that it receives."""
    if not pattern("socket").search(masked) or not pattern("spawns").search(masked):
        return False
    return (
        any(pattern("any_shell").search(text) for text in strings) or re.search(r"popen\((?!\s*«)", masked) is not None
    )
