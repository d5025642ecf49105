"""
Ask about commands that change what runs in production.

This covers commands for other machines whose words name production and that do more than look, scripts and tasks that
deploy there, and programs that are told to go live (`vercel --prod`, `terraform apply PLAN`). Nothing is asked if the
environment of the agent is that of a build server (`CI` is set).
"""

from collections.abc import Iterator

from snell.packs.guard.known_names import names, pattern
from snell.packs.guard.path_classes import Workspace
from snell.packs.guard.rule import MAY_GO_LIVE, Finding, Rule, Trigger, given_to, only_asks
from snell.packs.guard.shell.network_transfers import is_local
from snell.packs.guard.shell.shell_state import CONTAINER, Step
from snell.shell.arguments import Arguments, matches_any
from snell.shell.build_targets import BUILD_FILES, SCRIPT_RUNNERS
from snell.shell.effects import effects_of
from snell.shell.programs import Program, program_row
from snell.shell.remote_effects import remote
from snell.system.lazy_regex import lazy_regex

RULE = Rule(
    name="production",
    family="infrastructure",
    instead="say what will change there, and let the user run it",
    about=(__doc__ or "").strip(),
)

TRIGGER = Trigger(traits=MAY_GO_LIVE, rows=("goes_live",))

_PRODUCTION = pattern("names_production")
_DEPLOYS = pattern("deploying_names")
_VARIABLE = lazy_regex(r"(?:^|_)PROD(?:UCTION)?(?:_|$)")
_LOOKS = pattern("only_looks_there")
_TALKS = names("programs_with_free_text")
_SCRIPT_LANGUAGES = names("script_languages")


def find(step: Step, workspace: Workspace) -> Iterator[Finding]:
    if step.where == CONTAINER or not workspace.snell_paths.asks_to_publish:
        return
    given, row = given_to(step), program_row(step.program)
    if only_asks(step) or any(map(_LOOKS.fullmatch, given.operands[step.program == "aws" : 4])):
        return
    if matches_any(given, row.goes_live) or (_names_production(step) and _changes(step, given, row)):
        yield RULE.ask(f"`{step.text[:80]}` changes what other people use")


def _names_production(step: Step) -> bool:
    words = (step.words[0].text, *step.args, *(value for _name, value in step.env))
    if any(_VARIABLE.search(word.detail("variable")) for word in step.words):
        return True
    return any(_PRODUCTION.search(word) for word in words if " " not in word)


def _changes(step: Step, given: Arguments, row: Program) -> bool:
    """Tell whether the command may change something where its words say: on other machines, or by what it is for."""
    if step.program in _TALKS or any(map(is_local, step.args)):
        return False
    if inner := _inner_command(step, given):
        return effects_of(inner).reach != "read_only"
    if step.program in SCRIPT_RUNNERS or step.program in BUILD_FILES or row.sends_tasks:
        return any(map(_DEPLOYS.search, given.operands)) and not given.has("-n", "-T", "-p")
    if matches_any(given, row.deploys) or _is_deploying_script(step, given):
        return True
    is_download = given.operands[:1] == ("cp",) and not any(":" in word for word in given.operands[-1:])
    return not is_download and remote(step.program, given) == "sends"


def _inner_command(step: Step, given: Arguments) -> str:
    """Return what runs on the other machine, where the words say it."""
    if step.program in ("ssh", "mosh"):
        return " ".join(given.operands[1:]) or (step.stdin.text if step.stdin is not None else ":")
    is_exec = step.program in ("kubectl", "oc", "k", "docker") and "exec" in given.operands[:2]
    return " ".join(step.args[step.args.index("--") + 1 :]) if is_exec and "--" in step.args else ""


def _is_deploying_script(step: Step, given: Arguments) -> bool:
    """Tell whether a script that is run, and not only parsed, has a name such as `deploy`."""
    is_language = step.program in _SCRIPT_LANGUAGES and bool(given.operands)
    script = given.operands[0] if is_language else step.words[0].text
    is_script = "/" in script or "." in script
    return is_script and _DEPLOYS.search("/".join(script.split("/")[-2:])) is not None and not given.has("-n")
