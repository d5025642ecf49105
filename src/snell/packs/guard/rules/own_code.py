"""
Stop changes to the installed program of Snell.

This covers Snell's package, its environment's `site-packages` with every `.pth` file, the interpreter, `snell-hook` and
links to it, and the folders where pipx and uv install it. Reading and copying these files is fine. The clone of an
editable install may be changed in sessions whose project is that clone.
"""

import os
import re
from collections.abc import Iterator

from snell.model.tool_names import name_set
from snell.packs.guard.file_lookups import LINK, MISSING, path_kind
from snell.packs.guard.known_values import UNKNOWN
from snell.packs.guard.path_classes import HOME, ROOT, Workspace, classify_path, is_rebuilt_name
from snell.packs.guard.reading_programs import GIT_CHANGES_FILES, git_command, only_reads
from snell.packs.guard.rule import MAY_CHANGE_SNELL, SWEEPS, WRITES, Finding, Rule, Trigger
from snell.packs.guard.rules.delete_found import names_deleted
from snell.packs.guard.rules.delete_tree import REMOVERS
from snell.packs.guard.rules.permissions import CHANGERS
from snell.packs.guard.rules.wipe import WIPERS
from snell.packs.guard.sensitive_files import is_snell_code
from snell.packs.guard.shell.interpreters import LANGUAGES, SHELLS, is_versioned
from snell.packs.guard.shell.shell_state import HERE, Step
from snell.shell.arguments import arguments_of
from snell.system.lazy_regex import lazy_regex

RULE = Rule(
    name="own-code",
    family="self",
    instead="leave Snell's program as it is, and let the user change, update or remove it at a terminal",
)

_MOVERS = frozenset(("mv", "gmv"))
_UNPACKERS = name_set("tar bsdtar gtar unzip patch cpio pax 7z 7za")
_COPIERS = name_set("cp gcp ln install rsync ditto") | _MOVERS
_CHANGES_BY_ARGUMENTS = REMOVERS | WIPERS | CHANGERS | _MOVERS | _UNPACKERS | {"git", "hub", "mount"}
# Programs that change only what their arguments and redirections name.
_HARMLESS = _CHANGES_BY_ARGUMENTS | SHELLS | frozenset(LANGUAGES) | _COPIERS
_HARMLESS |= name_set(
    "dd tee zip gzip pip pipx uv mkdir touch export env set local declare kill pkill pgrep killall ps fuser lsof"
)
_PROGRAMS = ("snell", "snell-hook", "bin/snell", "bin/snell-hook")
FILE, GONE, INTO = "file", "deleted or moved with its content", "folder that files are written to"
OVER = "folder that another one is copied over"
_LOCKING_MODE = lazy_regex(
    r"0*[0-3]?[0-4]\d\d|0*\d{0,2}"
    r"|(?:.*,)?(?:[ugoa]*[ua][ugoa]*)?(?:-[rwxXst]*[rxX][rwxXst]*|=[wst]*)(?:,.*)?"
)

TRIGGER = Trigger(programs=_CHANGES_BY_ARGUMENTS | {"touch"}, traits=WRITES | SWEEPS | MAY_CHANGE_SNELL)


def find(step: Step, workspace: Workspace) -> Iterator[Finding]:
    if step.where != HERE:
        return
    for path, how in _changes(step, workspace):
        if _is_guarded(path, workspace):
            yield RULE.deny(f"it changes `{_show(path)}`, a part of the installed Snell")
            return
        if how != FILE and _is_changed_below(path, how, workspace):
            yield RULE.deny(f"it changes files of Snell in `{_show(path)}`")
            return
    if not (step.program in _HARMLESS or is_versioned(step.program) or only_reads(step)):
        yield from _may_change(step, workspace)


def _may_change(step: Step, workspace: Workspace) -> Iterator[Finding]:
    """Judge other programs with a path of Snell, which may write there."""
    for arg in step.args:
        path = workspace.absolute(arg.rpartition("=")[2]) if "snell" in arg and len(arg) < 4_000 else ""
        if path and not arg.startswith("-") and " " not in arg and _is_guarded(path, workspace):
            yield RULE.ask(f"`{step.program}` may change `{_show(path)}`, a part of the installed Snell")
            return


def _changes(step: Step, workspace: Workspace) -> Iterator[tuple[str, str]]:
    """Return the paths that the step changes, and how."""
    for path in (*step.writes, *step.appends):
        yield path, GONE if step.program == "rsync" and any(arg.startswith("--del") for arg in step.args) else FILE
    yield from ((workspace.absolute(each), FILE) for each in step.args if step.program == "touch")
    if step.program in _COPIERS:
        yield from _copied_over(step, workspace)
    if step.sweeps:
        yield from _search_changes(step, workspace)
    if step.program in CHANGERS:
        yield from _permission_changes(step, workspace)
    elif step.program in ("git", "hub"):
        yield from _git_changes(step, workspace)
    elif step.program in _UNPACKERS:
        if _unpacks_here(step):
            yield workspace.cwd, INTO
    else:
        yield from _removed_paths(step, workspace)


def _removed_paths(step: Step, workspace: Workspace) -> Iterator[tuple[str, str]]:
    how, operands = GONE, tuple[str, ...]()
    if step.program in REMOVERS or step.program in WIPERS:
        how = FILE if step.sweeps and step.filtered else GONE
        operands = tuple(
            each for each in arguments_of(step.program, step.args).operands if not is_rebuilt_name(_name(each))
        )
    elif step.program in _MOVERS:
        operands = _moved_paths(step)
    elif step.program == "mount":
        operands = arguments_of(step.program, step.args, "-t -o --types").operands[-1:]
    yield from ((workspace.absolute(each), how) for each in operands)


def _permission_changes(step: Step, workspace: Workspace) -> Iterator[tuple[str, str]]:
    """Return files whose permissions change; a locked folder also locks what is below it."""
    words = [arg for arg in step.args if not re.fullmatch(r"-[Rfvchn]+|--[\w-]+.*", arg)]
    locks = step.program == "chmod" and words and _LOCKING_MODE.fullmatch(words[0])
    for each in words[1:]:
        yield workspace.absolute(each), GONE if locks else OVER if step.program == "chown" else FILE


def _copied_over(step: Step, workspace: Workspace) -> Iterator[tuple[str, str]]:
    """Return what is copied, moved or linked into a folder; `x/.` and `x/*` are copied over the folder itself."""
    given = arguments_of(step.program, step.args, "-t --target-directory -S --suffix -m -o -g")
    sources = given.operands if given.has("-t", "--target-directory") else given.operands[:-1]
    replaces_folder = given.has("-n", "-T", "--no-dereference", "--no-target-directory")
    for folder in step.writes:
        if replaces_folder or any(each.endswith(("/.", "/*", "/")) for each in sources):
            yield folder, OVER
        yield from ((f"{folder}/{_name(each)}", OVER) for each in sources if _name(each).strip("."))


def _search_changes(step: Step, workspace: Workspace) -> Iterator[tuple[str, str]]:
    found = names_deleted(step)
    if found is not None and not (found and all(map(is_rebuilt_name, found))):
        finds_all = not step.filtered or any("snell" in name for name in found)
        for root in step.sweeps:
            yield root, GONE if finds_all or workspace.snell_paths.program.is_environment(root) else FILE


def _moved_paths(step: Step) -> tuple[str, ...]:
    given = arguments_of(step.program, step.args, "-t --target-directory -S --suffix")
    return given.operands if given.has("-t", "--target-directory") else given.operands[:-1]


def _git_changes(step: Step, workspace: Workspace) -> Iterator[tuple[str, str]]:
    command, words = git_command(step)
    if command in GIT_CHANGES_FILES:
        given = arguments_of("git", step.args)
        yield workspace.absolute(given.value("-C") or given.value("--work-tree") or "."), INTO
        yield from ((workspace.absolute(word), FILE) for word in words if not word.startswith("-") and "/" in word)


def _unpacks_here(step: Step) -> bool:
    """Tell whether an archive or a patch is unpacked in the current folder."""
    if step.writes or step.program in ("patch", "cpio", "pax"):
        return not step.writes
    lists = step.program == "unzip" and arguments_of(step.program, step.args).has("-l", "-p", "-t", "-v")
    extracts = step.program == "unzip" or re.search(r"^-?[a-zA-Z]*x|--extract|--get", " ".join(step.args[:3]))
    return bool(extracts) and not lists


def _is_guarded(path: str, workspace: Workspace) -> bool:
    program = workspace.snell_paths.program
    if not (is_snell_code(path) or program.holds(path) or _is_link_to_snell(path)):
        return False
    return not program.is_in_own_clone(path, workspace.project)


def _is_changed_below(path: str, how: str, workspace: Workspace) -> bool:
    program = workspace.snell_paths.program
    if how == GONE:
        changed = program.is_deleted_with(path) or _holds_link(path)
    elif how == OVER:
        changed = program.is_environment(path) and program.is_deleted_with(path)
    else:
        changed = f"{path}/".startswith(program.clone)
    if not changed or program.is_in_own_clone(path, workspace.project):
        return False
    return classify_path(path, workspace) not in (ROOT, HOME)  # other rules deny that with a better reason


def _is_link_to_snell(path: str) -> bool:
    """Tell whether the path is a link to a program of Snell, perhaps under another name."""
    if path_kind(path) != LINK:
        return False
    real = os.path.realpath(path)
    return _name(real) in _PROGRAMS or is_snell_code(real)


def _holds_link(folder: str) -> bool:
    """Tell whether the folder, or its `bin` folder, holds links to Snell's programs."""
    bare = folder.removesuffix("/*")
    return path_kind(bare) != MISSING and any(_is_link_to_snell(f"{bare}/{name}") for name in _PROGRAMS)


def _show(path: str) -> str:
    return path.replace(UNKNOWN, "?")


def _name(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]
