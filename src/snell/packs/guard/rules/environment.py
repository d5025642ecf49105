"""Printing the whole environment, where tokens and passwords often are."""

import re
from collections.abc import Iterator

from snell.model.tool_names import names
from snell.packs.guard.known_values import ENVIRONMENT
from snell.packs.guard.path_classes import Workspace
from snell.packs.guard.rule import Finding, Rule
from snell.packs.guard.shell.shell_state import HERE, Step
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


def find(step: Step, _workspace: Workspace) -> Iterator[Finding]:
    """Only where nothing takes the output; a pipe into `grep` is judged by what it prints."""
    if step.where != HERE or step.writes or step.appends:
        return
    if step.program in ("grep", "egrep", "rg") and step.stdin is not None and step.stdin.has(ENVIRONMENT):
        if any(_SECRET.search(arg) for arg in step.args) and not step.piped:
            yield RULE.ask("it prints the environment variables that hold secrets")
        return
    if step.program == "ps" and any(re.fullmatch(r"[a-z]*e[a-z]*", arg) for arg in step.args):
        yield RULE.ask("`ps` prints the environment of every process, secrets included")
        return
    if step.piped:
        return
    if step.program in _SHOWS and step.stdin is not None and step.stdin.detail(ENVIRONMENT) == "all variables":
        yield RULE.ask(f"`{step.program}` shows every environment variable, secrets included")
        return
    if step.program in ("env", "printenv") and not [arg for arg in step.args if not arg.startswith("-")]:
        yield RULE.ask("`env` prints every environment variable, secrets included")
    elif step.program in ("export", "declare", "typeset", "set") and step.output.has(ENVIRONMENT):
        yield RULE.ask("it prints every variable, secrets included")
