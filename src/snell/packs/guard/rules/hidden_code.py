"""
Stop commands that run code which is encoded, or only known at run time.

Encoded text is decoded where possible and judged like any other command; running it is denied in any case, because
there is no good reason to hide a command. Code that is only known at run time is asked about.
"""

from collections.abc import Iterator

from snell.packs.guard.known_names import pattern
from snell.packs.guard.known_values import DECODED, FED, INIT, NETWORK, UNKNOWN, Value, is_unset_variable
from snell.packs.guard.path_classes import Workspace
from snell.packs.guard.rule import CODE, Finding, Rule, Trigger
from snell.packs.guard.shell.shell_state import HERE, Step
from snell.system.lazy_regex import lazy_regex

RULE = Rule(
    name="hidden-code",
    family="execution",
    instead="write the commands as plain text, so that they can be reviewed before they run",
)

TRIGGER = Trigger(prefixes=(UNKNOWN,), traits=CODE)


def find(step: Step, _workspace: Workspace) -> Iterator[Finding]:
    code = step.code
    if code is None:
        yield from _unknown_program(step)
    elif code.has(DECODED):
        yield RULE.deny(f"`{step.program}` runs code that was hidden by an encoding")
    elif code.has(FED):
        yield RULE.ask("it runs words from a pipe as code")
    elif _is_opaque(step, code) and not _is_printed_code(code):
        yield RULE.ask(f"`{step.program}` runs code that is only known at run time")


def _is_printed_code(code: Value) -> bool:
    """Tell whether a program printed the code that is made for this: `eval "$(ssh-agent)"`."""
    return code.text == UNKNOWN and code.has(INIT)


def _is_opaque(step: Step, code: Value) -> bool:
    """Tell whether a command may be in an unknown part; unknown arguments are judged with their command."""
    text = code.text
    if UNKNOWN not in text or code.has(NETWORK):
        return False
    if step.where != HERE:
        return is_unset_variable(code)
    return not text.strip().replace(UNKNOWN, "").strip("\n;&| \t'\"") or text.lstrip().startswith(UNKNOWN)


def _unknown_program(step: Step) -> Iterator[Finding]:
    """Judge a program that is only known at run time, unless the name of its variable says what it is."""
    if not step.program.startswith(UNKNOWN) or step.program.strip(UNKNOWN) or step.where != HERE:
        return
    if any(_DANGEROUS.fullmatch(arg) for arg in step.args):
        yield RULE.ask("it runs a program that is only known at run time, with dangerous options")
    elif (not step.args or set(step.args) - _HARMLESS) and not any(
        _TOOL.fullmatch(label) for label in step.words[0].labels
    ):
        yield RULE.ask("it runs a program that is only known at run time")


_HARMLESS = frozenset(("--help", "-h", "--version", "-V", "version", "help"))
_DANGEROUS = lazy_regex(r"-\w*[rR]\w*f\w*|-\w*f\w*[rR]\w*|--no-preserve-root|--hard|--force")
_TOOL = pattern("safe_tool_output")
