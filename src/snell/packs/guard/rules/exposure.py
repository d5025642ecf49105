"""
Stop commands that expose, unprotect or stop remote resources which others use.

This covers disabling the logs or the protection of a cloud account, making data public, and adding keys and people.
Giving workflows more rights is asked about; so is stopping a service or scaling it to zero, which can be undone. So is
publishing a package or an image, and merging past a review, unless the environment of the agent is that of a build
server (`CI` is set).
"""

from collections.abc import Iterator

from snell.packs.guard.known_names import pattern
from snell.packs.guard.known_values import UNKNOWN
from snell.packs.guard.path_classes import Workspace
from snell.packs.guard.rule import Finding, Rule, Trigger, given_to, only_asks
from snell.packs.guard.shell.shell_state import Step
from snell.shell.arguments import Arguments, matches_any
from snell.shell.programs import Program, program_row
from snell.shell.remote_effects import remote
from snell.system.lazy_regex import lazy_regex

RULE = Rule(
    name="exposure", family="infrastructure", instead="say what should change and why, and let the user change it"
)

_REQUESTS = frozenset(("curl", "http", "https", "xh", "wget"))
_FOR_OTHERS = pattern("requests_that_others_notice")
TRIGGER = Trigger(programs=_REQUESTS, rows=("exposes", "may_expose", "stops", "publishes"))
_OWN_REGISTRY = ("localhost", "127.0.0.1")


def find(step: Step, workspace: Workspace) -> Iterator[Finding]:
    given, row = given_to(step), program_row(step.program)
    if step.program in _REQUESTS:
        told = " ".join(step.args)
        may = "api." in told or ".sock" in told or "transfer" in told or "visibility" in told
        if may and _FOR_OTHERS.search(told) and remote(step.program, given) == "sends":
            yield RULE.deny(f"`{step.text[:80]}` sends mail or money, or gives something to another owner")
        return
    if matches_any(given, row.exposes) and not only_asks(step):
        yield RULE.deny(f"`{step.text[:80]}` removes the protection of a remote resource, or lets others use it")
    elif matches_any(given, row.may_expose) and not only_asks(step):
        yield RULE.ask(f"`{step.text[:80]}` changes what others may do with a remote resource")
    elif matches_any(given, row.stops) and not only_asks(step):
        yield RULE.ask(f"`{step.text[:80]}` stops a service that others may use")
    elif _publishes(given, row, workspace) and not only_asks(step):
        yield RULE.ask(f"`{step.text[:80]}` publishes something, or merges it without a review")


def _publishes(given: Arguments, row: Program, workspace: Workspace) -> bool:
    """Tell whether something is published by hand: scripts of build servers name it by variables and folders."""
    if not matches_any(given, row.publishes):
        return False
    last, is_sure = (given.operands or given.words or ("",))[-1], len(given.operands) - 1 not in given.unsure
    is_sure = is_sure and not any(UNKNOWN in each for each in given.operands)
    if last.startswith(_OWN_REGISTRY):
        return False
    names_it = is_sure and not _VERB.fullmatch(last)
    return workspace.snell_paths.asks_to_publish or names_it


# The last word, where none names what is published: a verb, a task of a builder, or an option.
_VERB = lazy_regex(
    r"(?i)|\.|-.*|(?:pre)?(?:patch|minor|major)|(?:[\w.:+/-]*[:./+])?(?:publish|push|upload|merge|release|submit|close|sonatype)\w*"
)
