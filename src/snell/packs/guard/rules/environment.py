"""Stop commands that print all environment variables, which often include tokens and passwords."""

import re
from collections.abc import Iterator

from snell.model.tool_names import name_set
from snell.packs.guard.known_values import ENVIRONMENT
from snell.packs.guard.path_classes import Workspace
from snell.packs.guard.rule import VARIABLES, Finding, Rule, Trigger
from snell.packs.guard.shell.shell_state import HERE, Step
from snell.system.lazy_regex import lazy_regex

RULE = Rule(name="environment", family="secrets", instead="print only the variable that is needed, if it is no secret")

_SHOWS = name_set("cat less more most bat batcat tac nl tee column fold pr rev sort uniq tr xargs cut head tail")
_SECRET = lazy_regex(r"secret|token|passw|key|cred|auth|api", re.IGNORECASE)

TRIGGER = Trigger(
    programs=name_set("ps env printenv export declare typeset set"),
    some=_SHOWS | {"grep", "egrep", "rg"},
    when=VARIABLES,
)


def find(step: Step, _workspace: Workspace) -> Iterator[Finding]:
    """Judge only output that nothing else reads; a pipe into `grep` is judged by what `grep` prints."""
    if step.writes or step.appends:
        return
    if step.where != HERE:
        prints = step.program in ("env", "printenv") and all(arg.startswith("-") for arg in step.args)
        if (prints or _passes_all(step)) and not step.piped:
            yield RULE.ask("it prints the environment of a container or another machine, including secrets")
        return
    if step.program == "ps":
        if any(re.fullmatch(r"[a-z]*e[a-z]*", arg) for arg in step.args):
            yield RULE.ask("`ps` prints the environment of every process, including secrets", "ps")
    elif not step.piped:
        yield from _printed_variables(step)


def _passes_all(step: Step) -> bool:
    """Tell whether all variables, or secret ones, go in, and values come out; `xargs` prints by another program."""
    which = step.stdin.detail(ENVIRONMENT) if step.stdin is not None else ""
    is_given = which == "all variables" or (bool(which) and _SECRET.search(which) is not None)
    return step.program in _SHOWS and is_given and (step.program == "xargs" or step.output.has(ENVIRONMENT))


def _printed_variables(step: Step) -> Iterator[Finding]:
    program, given = step.program, step.stdin
    if program in ("grep", "egrep", "rg"):
        if given is not None and given.has(ENVIRONMENT) and any(map(_SECRET.search, step.args)):
            yield RULE.ask("it prints environment variables that hold secrets")
    elif program in _SHOWS:
        if _passes_all(step):
            yield RULE.ask(f"`{program}` prints environment variables, including secrets", program)
    elif program in ("env", "printenv"):
        if all(arg.startswith("-") for arg in step.args):
            yield RULE.ask("`env` prints all environment variables, including secrets", "env")
    elif step.output.has(ENVIRONMENT):
        yield RULE.ask("it prints all variables, including secrets")
