"""
Stop commands that disable Snell.

This covers changes to Snell's settings, trust and state, to the client files that configure hooks, and the `snell`
commands that only the user may run, at a terminal (`snell trust`, `snell pause`, `snell setup`). Only the Snell of this
user is guarded: another one, with a home in a temporary folder that the command names, may be used and stopped.
"""

from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from snell.model.tool_names import name_set
from snell.packs.guard.known_names import names
from snell.packs.guard.path_classes import Workspace
from snell.packs.guard.reading_programs import GIT_CHANGES_FILES, git_command, only_reads
from snell.packs.guard.rule import (
    IN_SNELL_FOLDER,
    MAY_CHANGE_PATH,
    MAY_CHANGE_SNELL,
    SWEEPS,
    WRITES,
    Finding,
    Rule,
    Trigger,
)
from snell.packs.guard.sensitive_files import is_client_hook_file, is_snell_file
from snell.packs.guard.shell.loaded_modules import module_run
from snell.packs.guard.shell.shell_state import EXPORTED, HERE, Step
from snell.shell.arguments import arguments_of
from snell.system.lazy_regex import lazy_regex

RULE = Rule(name="own-files", family="self", instead="say what should change, and let the user change it at a terminal")

_WEAKENING = names("weakening_commands")
# Sub-commands that weaken Snell, by command.
_WEAKENING_SUBCOMMANDS = {
    "ledger": frozenset(("release",)),
    "runs": frozenset(("approve", "cancel", "finish")),
    "tools": frozenset(("learn", "forget")),
}
_OFF = frozenset(("off", "false", "disable", "disabled", "none", "kill", "restart", "reset", "remove", "unhook"))
_HARMLESS_COMMANDS = names("harmless_commands")
_VARIABLES = lazy_regex(r"^SNELL_(?!IDLE$|NIGHTLY\b)")
_OTHER_HOME = lazy_regex(
    r"^(?:SNELL_(?!IDLE$)\w+|HOME|CLAUDE_CONFIG_DIR|CODEX_HOME|GEMINI_CONFIG_DIR|XDG_CONFIG_HOME)$"
)
_CLIENTS = name_set("snell claude codex gemini snell-hook qwen opencode copilot cursor-agent droid grok kimi")
_CLIENT_FOLDER = lazy_regex(
    r"(?:^|/)\.(?:claude|codex|gemini|cursor|qwen|factory|grok|copilot|kimi-code|opencode|windsurf)/?$"
)
_FOLDER_CHANGERS = name_set("rm mv shred trash cp rsync ditto tar bsdtar unzip")
_INNER_MODULE = lazy_regex(r"\b(?:from|import)\s+snell\.(?:cli|settings|records|runtime|store|operations)\b")
_NO_PROMPTS = lazy_regex(r"--(?:dangerously-\S+|yolo|allow-all-tools|full-auto)|bypassPermissions|danger-full-access")

# What concerns another Snell than the user's; without this folder, all are guarded alike.
_OTHERS: Any = find_spec("snell.packs.guard.other_snells") and import_module("snell.packs.guard.other_snells.homes")

# What sets variables for later commands, services or windows.
_SETTERS = name_set("export unset declare typeset setenv systemctl launchctl tmux dbus-update-activation-environment")
_STARTERS = _CLIENTS | _SETTERS
TRIGGER = Trigger(
    programs=_STARTERS | _FOLDER_CHANGERS,
    prefixes=("python",),
    traits=WRITES | SWEEPS | MAY_CHANGE_PATH | MAY_CHANGE_SNELL | IN_SNELL_FOLDER,
)


def find(step: Step, workspace: Workspace) -> Iterator[Finding]:
    if step.program == "snell" or step.program.startswith("python"):
        yield from _snell_command(step, workspace)  # elsewhere, too: `ssh localhost snell pause`
    if step.where != HERE:
        return
    for path in (*step.writes, *step.appends):
        if _is_guarded(path, workspace):
            yield RULE.deny(f"it changes `{path}`, which Snell or a client's hooks depend on")
            return
    if step.program in _STARTERS:
        yield from _client(step, workspace)
    if step.program in _FOLDER_CHANGERS:
        yield from _folder(step, workspace)
    if not only_reads(step):
        yield from _named_paths(step, workspace)


def _named_paths(step: Step, workspace: Workspace) -> Iterator[Finding]:
    if "disableAllHooks" in "\0".join(step.args) and step.program not in ("git", "gh", "glab"):
        yield RULE.deny("it disables all hooks (`disableAllHooks`)")
    if step.program in ("rsync", "cp", "git") and not _writes_guarded(step, workspace):
        return
    for path in _paths(step, workspace):
        if _is_guarded(path, workspace):
            yield RULE.deny(f"`{step.program}` changes `{path}`, which Snell or a client's hooks depend on")
            return


def _is_guarded(path: str, workspace: Workspace) -> bool:
    if is_client_hook_file(path) or workspace.snell_paths.holds(path):
        return True
    return is_snell_file(path) and not (_OTHERS and _OTHERS.is_temporary(path, workspace))


def _writes_guarded(step: Step, workspace: Workspace) -> bool:
    if step.program == "git":
        command, _words = git_command(step)
        return command in GIT_CHANGES_FILES
    operands = arguments_of(step.program, step.args).operands
    return bool(operands) and _is_guarded(workspace.absolute(operands[-1]), workspace)


def _paths(step: Step, workspace: Workspace) -> Iterator[str]:
    in_snell_folder = workspace.is_snell_folder
    for arg in step.args:
        for text in (arg, arg.partition("=")[2]) if "=" in arg else (arg,):
            named = "/" in text or text.startswith(".") or "snell" in text or (in_snell_folder and text)
            if named and not ("(" in text or " " in text or text.startswith("-") or len(text) >= 4000):
                yield workspace.absolute(text) + ("/" if text.endswith("/") else "")
    yield from step.sweeps
    if in_snell_folder and step.program in ("git", "tar", "unzip", "make", "touch", "patch", "bash", "sh"):
        yield workspace.cwd + "/"


_SHOWS = name_set("--list --help -h list show --show --dry-run --print status")


def _snell_command(step: Step, workspace: Workspace) -> Iterator[Finding]:
    if step.code and _INNER_MODULE.search(step.code.text):
        is_own = workspace.snell_paths.program.is_in_own_clone(workspace.cwd, workspace.project)
        if not (is_own or (_OTHERS and _OTHERS.is_work_on_a_clone(step.code.text, workspace))):
            yield RULE.ask("it runs modules of Snell that only the user's commands may run")
    module, rest = module_run(step.args) if step.program.startswith("python") else ("", ())
    words = rest if module == "snell" else step.args
    if step.program == "snell" or module == "snell":
        verbs = [arg for arg in words[:2] if arg.partition("-")[0] in _WEAKENING and words[0] != "help"]
        verbs += [arg for arg in words[1:] if arg in _WEAKENING_SUBCOMMANDS.get(words[0], ())]
        if _OTHERS and _OTHERS.keeps_to_its_home(step, words, workspace):
            return
        if verbs and _SHOWS.isdisjoint(words):
            yield RULE.deny(f"`snell {' '.join(words[:2])}` may only be run by the user at a terminal")
        elif words[:1] and words[0] not in _HARMLESS_COMMANDS and _OFF & set(words[1:]) | (_OFF & set(words[:1])):
            yield RULE.deny(f"`snell {' '.join(words[:3])}` may only be run by the user at a terminal")


def _client(step: Step, workspace: Workspace) -> Iterator[Finding]:
    """Judge starting Snell or a client with other settings, or a client that asks no user for permission."""
    moved = [arg for arg in step.args if _VARIABLES.match(arg)] if step.program in _SETTERS else ()
    if moved and not (_OTHERS and _OTHERS.concern_this_line(moved, step.program, workspace)):
        yield RULE.ask("it changes where Snell reads its settings")
    if step.program not in _CLIENTS or (_OTHERS and _OTHERS.is_harmless(step, workspace)):
        return
    if any(_OTHER_HOME.match(name) or name == f"SNELL_HOME{EXPORTED}" for name, _value in step.env) or (
        step.program == "claude" and {"--settings", "--bare", "--setting-sources"} & set(step.args)
    ):
        yield RULE.deny("it runs Snell or a client with other settings than the user's")
    elif any(map(_NO_PROMPTS.search, step.args)):
        yield RULE.ask(f"it starts `{step.program}` without permission prompts")


def _folder(step: Step, workspace: Workspace) -> Iterator[Finding]:
    """Judge deleting, moving or replacing a client's complete folder with its hooks."""
    operands = arguments_of(step.program, step.args).operands
    if step.program in ("rm", "mv", "shred", "trash"):
        gone = operands[:-1] if step.program == "mv" else operands
    elif step.program in ("cp", "rsync", "ditto") and any(name.endswith(("/.", "/*", "/")) for name in operands[:-1]):
        gone = operands[-1:]
    else:
        gone = tuple(step.writes) if step.program in ("tar", "bsdtar", "unzip") else ()
    for name in gone:
        path = workspace.absolute(name)
        holds_ours = step.program == "mv" and any(each.startswith(f"{path}/") for each in workspace.snell_paths.folders)
        if holds_ours or _CLIENT_FOLDER.search(path):
            yield RULE.deny(f"it deletes, moves or replaces `{name}`, which holds hooks or their settings")
            return
