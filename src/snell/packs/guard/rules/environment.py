"""Printing the whole environment, where tokens and passwords often are."""

import re
from collections.abc import Iterator

from snell.model.tool_names import names
from snell.packs.guard.known_values import ENVIRONMENT
from snell.packs.guard.path_classes import Workspace
from snell.packs.guard.rule import Finding, Rule
from snell.packs.guard.shell.shell_state import HERE, Step
from snell.packs.guard.triggers import Trigger
from snell.system.lazy_regex import lazy_regex

RULE = Rule(
    name="environment",
    family="secrets",
    instead="print the one variable that is needed, if it is no secret",
    flagged=("env", "printenv", "export -p", "ps auxe", "env | cat", "printenv | less", "set", "env | tee"),
    fine=(
        "env FOO=1 make",
        "printenv PATH",
        "env | grep ^PATH",
        "env | cut -d= -f1",
        "env | wc -l",
        "set -e",
        "export A=1",
    ),
)

_SHOWS = names("cat less more most bat batcat tac nl tee column fold pr rev")
_SECRET = lazy_regex(r"secret|token|passw|key|cred|auth|api", re.IGNORECASE)


TRIGGER = Trigger(programs=_SHOWS | names("grep egrep rg ps env printenv export declare typeset set"))


def find(step: Step, _workspace: Workspace) -> Iterator[Finding]:
    """Only where nothing takes the output; a pipe into `grep` is judged by what it prints."""
    if step.where != HERE or step.writes or step.appends:
        return
    if step.program == "ps":
        if any(re.fullmatch(r"[a-z]*e[a-z]*", arg) for arg in step.args):
            yield RULE.ask("`ps` prints the environment of every process, secrets included")
    elif not step.piped and (why := _printed_variables(step)):
        yield RULE.ask(why)


def _printed_variables(step: Step) -> str:
    """Say which variables the step prints; empty for none that matter."""
    program, given = step.program, step.stdin
    if program in ("grep", "egrep", "rg"):
        is_secret = given is not None and given.has(ENVIRONMENT) and any(map(_SECRET.search, step.args))
        return "it prints the environment variables that hold secrets" if is_secret else ""
    if program in _SHOWS and given is not None and given.detail(ENVIRONMENT) == "all variables":
        return f"`{program}` shows every environment variable, secrets included"
    if program in ("env", "printenv") and all(arg.startswith("-") for arg in step.args):
        return "`env` prints every environment variable, secrets included"
    if program in ("export", "declare", "typeset", "set") and step.output.has(ENVIRONMENT):
        return "it prints every variable, secrets included"
    return ""
