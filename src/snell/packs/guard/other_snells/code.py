"""The homes that code names for the programs that it starts."""

import re
from collections.abc import Callable

from snell.packs.guard.known_values import UNKNOWN
from snell.packs.guard.shell.program_patterns import S
from snell.packs.guard.shell.shell_state import program_of
from snell.system.lazy_regex import lazy_regex

_NAMES_ENV = lazy_regex(r"(?:[^()]|\([^()]{0,80}\)){0,200}?,\s*env\s*=")
_HOME = lazy_regex(rf"(?:{S}\s*:|\b((?:SNELL_)?HOME)\s*=)\s*(?:str\(\s*)?(?:{S}|([\w.]+))")
_TEMPORARY = lazy_regex(
    r"([\w.]+)\s*=\s*(?:(?:pathlib\.)?Path\(\s*)?tempfile\.(?:mkdtemp|TemporaryDirectory)\("
    r"|TemporaryDirectory\([^)]*\)\s*as\s+(\w+)"
)
_BELOW = lazy_regex(r"([\w.]+)\s*=\s*(?:(?:pathlib\.)?(?:Path|str)\(\s*)?([\w.]+?)(?:\.name\b|\s*/|\s*\))")


def named_homes(words: list[str], call: re.Match[str], at: Callable[[str], str]) -> tuple[tuple[str, str], ...]:
    """Return the homes that code names for the Snell that this call starts; none if one is not known."""
    masked = call.string
    starts_snell = program_of(words[0]) in ("snell", "snell-hook") or words[1:3] == ["-m", "snell"]
    if not starts_snell or not _NAMES_ENV.match(masked, call.end()):
        return ()
    temporary = {first or second for first, second in _TEMPORARY.findall(masked)}
    for name, above in _BELOW.findall(masked):
        temporary |= {name} if above in temporary else set()
    homes = dict[str, str]()
    for key, plain, text, variable in _HOME.findall(masked):
        value = at(text) if text else "/tmp/user/unnamed" if variable in temporary else UNKNOWN
        name = at(key) if key else plain
        if name in ("HOME", "SNELL_HOME"):
            homes[name] = value if homes.get(name, value) == value else UNKNOWN
    return () if UNKNOWN in "".join(homes.values()) else tuple(homes.items())
