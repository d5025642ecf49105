"""Recognise programs that only read the files in their arguments, and the sub-commands of git."""

from snell.model.tool_names import name_set
from snell.packs.guard.known_names import names
from snell.packs.guard.shell.loaded_modules import module_run
from snell.packs.guard.shell.shell_state import Step
from snell.shell.arguments import sub_command
from snell.shell.programs import program_row
from snell.system.lazy_regex import lazy_regex

GIT_CHANGES_FILES = names("git_changes_files")
_READING_MODULES = name_set("json.tool ast tokenize dis pydoc tabnanny pyclbr")  # a second operand is written to
_EDITORS = name_set("vi vim nvim gvim")
_ONLY_LOOKS = lazy_regex(r"-\w*[RM]\w*")


def git_command(step: Step) -> tuple[str, list[str]]:
    """Return the sub-command in lower case and its words; both empty when the step is no git call."""
    return sub_command("git", step.args) if step.program in ("git", "hub") else ("", [])


def only_reads(step: Step) -> bool:
    """Tell whether the program only reads the files in its arguments, except those in `step.writes`."""
    if step.program in _EDITORS:
        return any(map(_ONLY_LOOKS.fullmatch, step.args))
    if step.program.startswith("python"):
        module, words = module_run(step.args)
        return module in _READING_MODULES and sum(not word.startswith("-") for word in words) < 2
    return program_row(step.program).only_reads
