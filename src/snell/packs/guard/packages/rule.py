"""
Ask about packages of publishers that are not well known, and about names that imitate well-known packages.

This covers repositories, taps, PPAs and Go programs that are installed by the name of their owner, an extra index, and
scripts of packages that run as root. Nothing is asked if the environment of the agent is that of a build server (`CI`
is set).
"""

import itertools
from collections.abc import Iterator

from snell.model.tool_names import name_set
from snell.packs.guard.known_names import names, pattern
from snell.packs.guard.path_classes import Workspace
from snell.packs.guard.rule import INSTALLS, Finding, Rule, Trigger, given_to, only_asks
from snell.packs.guard.rules.remote_code import PACKAGE_NAME, TOOLS, is_installer
from snell.packs.guard.shell.shell_state import HERE, Step
from snell.shell.programs import program_row

RULE = Rule(
    name="packages",
    family="execution",
    instead="name the package and where it is from, and let the user add it",
    about=(__doc__ or "").strip(),
)

TRIGGER = Trigger(programs=name_set("brew poetry uv cargo yarn pnpm bun pdm add-apt-repository"), traits=INSTALLS)

# How packages are named by their publisher: by address, by `owner/name`, by Go's import path, or as a PPA.
_PUBLISHED = pattern("packages_of_publishers")
_PUBLISHERS = names("known_publishers")
_BY_OWNER = name_set("npm pnpm yarn bun brew dnf yum")
_ADDS = name_set("install i in add tap get copr require")
_WITH_SCRIPTS = name_set("npm pnpm yarn pip pip3 gem")
_MORE_INSTALLERS = name_set("brew add-apt-repository dnf yum")


def find(step: Step, workspace: Workspace) -> Iterator[Finding]:
    """Judge packages whose publisher few know: `brew install NAME/tap/x`, `pip install git+https://...`."""
    installs = is_installer(step) or step.program in _MORE_INSTALLERS
    if not (installs and workspace.snell_paths.asks_to_publish) or step.where != HERE or only_asks(step):
        return
    given = given_to(step)
    takes_names = step.program == "add-apt-repository" or not _ADDS.isdisjoint(given.operands[:2])
    takes_addresses = takes_names or not {"run", "tool", "pip", "global"}.isdisjoint(given.operands[:2])
    verb = next((at for at, word in enumerate(given.operands[:2]) if word in _ADDS), 0)
    first = 0 if step.program == "add-apt-repository" else verb + 1
    for word in given.operands[first:] if takes_addresses else ():
        if why := _doubt_of(word, step, takes_names=takes_names):
            yield RULE.ask(f"it installs `{word}`, {why}")
            return
    if step.elevated and takes_names and step.program in _WITH_SCRIPTS:
        yield RULE.ask(f"`{step.text[:80]}` runs scripts of packages as root")
    if host := next(filter(None, map(_UNKNOWN_INDEX.match, given.values("--extra-index-url"))), None):
        yield RULE.ask(f"it lets `{host[0]}` replace packages of the usual index")


def _doubt_of(word: str, step: Step, *, takes_names: bool) -> str:
    """Say what is doubtful about a package: its publisher is not known, or its name imitates another one."""
    found = _PUBLISHED.fullmatch(word)
    if found is None:
        plain = PACKAGE_NAME.fullmatch(word)
        imitated = _popular_original(plain[1].lower()) if plain and takes_names and is_installer(step) else ""
        return f"which is spelled like `{imitated}`" if imitated else ""
    is_name = found.lastgroup == "owner"
    if (is_name and not (takes_names and step.program in _BY_OWNER)) or (
        step.program == "go" and "get" in step.args[:1]
    ):
        return ""
    owner, name = found[found.lastindex or 0].lower(), word.partition("@")[0].rpartition("/")[2]
    is_known = {owner, f"@{owner}"} & (_PUBLISHERS | program_row("npx").well_known) or name in TOOLS
    return "" if is_known else "whose publisher is not well known"


_POPULAR = frozenset(name.replace("_", "-") for name in names("popular_packages"))


def _popular_original(name: str) -> str:
    """Return the well-known package whose name differs by one letter, two swapped letters, or a dash."""
    name = name.replace("_", "-")
    if len(name) < _SHORTEST or name in _POPULAR or name.startswith("@"):
        return ""
    return next((known for known in _POPULAR if len(known) >= _SHORTEST and _is_one_edit(name, known)), "")


_SHORTEST = 5


def _is_one_edit(name: str, known: str) -> bool:
    if name.replace("-", "") == known.replace("-", "").replace(".", ""):
        return True
    start = _common_start(name, known)
    end = _common_start(name[start:][::-1], known[start:][::-1])
    mine, other = name[start : len(name) - end], known[start : len(known) - end]
    return max(len(mine), len(other)) < 2 or (len(mine) == 2 and mine == other[::-1])


def _common_start(name: str, known: str) -> int:
    """Return the number of letters with which both begin."""
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(name, known, strict=False)))


_UNKNOWN_INDEX = pattern("unknown_indexes")
