"""
Stop commands that delete remote resources and stored data: clouds, clusters, hosted repositories, volumes, backups.

Reading, planning and dry runs are fine.
"""

import re
from collections.abc import Iterator

from snell.model.tool_names import name_set
from snell.packs.guard.known_names import pattern
from snell.packs.guard.known_values import UNKNOWN
from snell.packs.guard.path_classes import Workspace
from snell.packs.guard.rule import MAY_TAKE_DOWN, TAKES_DOWN, Finding, Rule, Trigger, given_to, only_asks
from snell.packs.guard.shell.shell_state import Step
from snell.shell.arguments import Arguments, matches_any
from snell.shell.programs import Program, program_row
from snell.system.lazy_regex import lazy_regex

RULE = Rule(
    name="infrastructure",
    family="infrastructure",
    instead="show the plan (`plan`, `--dry-run`), and let the user run it",
)

_VERB = pattern("taking_down_verbs")
# Verbs that only look; what follows them names what is read.
_LOOKS = lazy_regex(r"(?:list|describe|show|view|get|read|help|ls|can-i)(?:-[\w-]+)?$")
_LOOKS_FIRST = frozenset(("explain", "logs", "top", "wait", "diff", "completion", "search", "status", "version"))
_TEXTS = frozenset(("-m", "--message", "--title", "--body", "--name", "-n", "--description", "--grep", "-l", "--label"))
_MAKES = frozenset(("new", "create", "add", "init", "generate"))  # what follows is a name
_KEEPS = frozenset(("flush-cache", "deleted", "delete-branch", "--delete-branch", "deletedafter"))
_SWITCH = lazy_regex(r"--(?:yes|quiet|force|debug|verbose|no-|non-interactive|all|recursive|delete|remove|json)")
_CLOUDS = frozenset(("aws", "az", "gcloud", "oci", "ibmcloud"))
_ENGINES = frozenset(("docker", "podman", "nerdctl"))
_REQUESTS = frozenset(("curl", "http", "https", "xh", "curlie", "wget"))

TRIGGER = Trigger(traits=MAY_TAKE_DOWN, rows=("deletes_by_verb", "destroys", "may_destroy", "ends"))


def find(step: Step, _workspace: Workspace) -> Iterator[Finding]:
    given = given_to(step)
    for finding in _deletions(step, given):
        if only_asks(step) or _only_looks(step.program, given) or _is_one_pod(step.program, given):
            return
        if step.program in _REQUESTS and _is_local_service(" ".join(step.args)):
            return
        yield finding


def _deletions(step: Step, given: Arguments) -> Iterator[Finding]:
    row = program_row(step.program)
    verb = _verb(step.args) if row.deletes_by_verb else ""
    if verb:
        yield RULE.deny(f"`{step.program} ... {verb}` deletes or takes down a remote resource")
    elif matches_any(given, row.destroys):
        yield RULE.deny(f"`{step.text[:80]}` deletes data, or takes down what may be in use")
    elif matches_any(given, row.may_destroy):
        yield RULE.ask(f"`{step.text[:80]}` deletes what other projects may use")
    elif matches_any(given, row.ends) and any(word.has("every") for word in step.words[1:]):
        yield RULE.deny(f"`{step.program} {' '.join(given.operands[:2])}` acts on everything that is listed")
    elif step.program in _ENGINES and _deletes_all_listed(step):
        yield RULE.deny(f"`{step.program} {step.args[0]}` acts on everything that it lists, including other projects")
    elif not (_tells_losses(row) or "/" in step.words[0].text) and _insists(given):
        yield RULE.ask(f"`{step.text[:80]}` deletes or empties something without a question")


_INSISTS = name_set(
    "-f --force -y --yes --assume-yes --auto-approve --confirm --no-input --no-prompt --skip-confirmation"
)
_SCRIPT = lazy_regex(r"[./]")
_REBUILT = lazy_regex(r"caches?$|te?mp$|test", re.IGNORECASE)
_DESTROYS = ("destroy", "purge", "wipe", "erase", "nuke", "terminate", "teardown")


def _tells_losses(row: Program) -> bool:
    """Tell whether the table says what is lost by this program, or it only runs what others wrote."""
    losses = (row.deletes_by_verb, row.destroys, row.may_destroy, row.drops, row.erases, row.changes, row.discards)
    return any(losses) or row.only_reads or row.no_command or row.wraps or bool(row.sends_tasks or row.language_code)


def _insists(given: Arguments) -> bool:
    """Tell whether a program that the table does not have is told to destroy, or to delete without asking or all."""
    at = next((at for at, word in enumerate(given.operands[:3]) if TAKES_DOWN.search(word)), -1)
    if at < 0 or any(map(_SCRIPT.search, given.operands[:at])) or any(map(_REBUILT.match, given.operands)):
        return False
    if given.operands[at].startswith(_DESTROYS):
        return True
    is_all = given.operands[at].endswith("all") or "all" in given.operands[at:] or given.has("--all", "--cascade")
    return is_all or any(name in _INSISTS for name, _value in given.options)


def _only_looks(program: str, given: Arguments) -> bool:
    """Tell whether a verb that looks comes before any that deletes; clouds have services such as `logs`."""
    for index, word in enumerate(given.operands[:5]):
        if index not in given.unsure:
            if _LOOKS.match(word) or (not index and word in _LOOKS_FIRST and program not in _CLOUDS):
                return True
            if _VERB.match(word) or word in ("rm", "remove", "prune", "drain"):
                return False
    return False


def _verb(args: tuple[str, ...]) -> str:
    """Return the first word that deletes something."""
    before = ""
    for arg in args[:14]:
        if _VERB.match(arg) and not _takes_value(before) and arg.lower() not in _KEEPS:
            return arg
        if arg == "--" or (arg in _MAKES and not _takes_value(before)):
            return ""
        before = arg
    return ""


def _takes_value(option: str) -> bool:
    is_long = option.startswith("--") and "=" not in option
    return option in _TEXTS or (is_long and not _SWITCH.match(option))


def _deletes_all_listed(step: Step) -> bool:
    """Tell whether a list without a filter is deleted: `docker rm -f $(docker ps -aq)`."""
    words = [word for word in step.words[1:] if word.text not in ("container", "image", "volume", "network")]
    takes = bool(words) and words[0].text in ("rm", "rmi", "kill", "stop", "remove")
    return takes and any(word.has("every") for word in words[1:])


def _is_one_pod(program: str, given: Arguments) -> bool:
    """Tell whether one pod is deleted, which its controller starts again: `kubectl delete pod web-1`."""
    return (
        program in ("kubectl", "oc", "k")
        and given.operands[:2] in (("delete", "pod"), ("delete", "po"), ("delete", "pods"))
        and len(given.operands) == 3
        and UNKNOWN not in given.operands[2]
        and not given.has("--all", "-A", "--all-namespaces", "-l", "--selector", "--field-selector", "--force", "-f")
        and not any(_LIVE.search(value) for _, value in given.options)
    )


_LIVE = lazy_regex(r"prod|live|kube-system", re.IGNORECASE)

_STORES = pattern("ports_of_stores")
_LOCAL = lazy_regex(r"(?:.*[\s/@])?(?:localhost|127\.0\.0\.1|\[::1\]|0\.0\.0\.0)(?:[:/\s]|$)")


def _is_local_service(text: str) -> bool:
    """Tell whether the request goes to a service in development on this machine."""
    return _LOCAL.match(text) is not None and _STORES.search(text) is None
