"""
Stop package managers from removing or replacing Snell.

This covers `pip`, `uv`, `pipx` and similar tools when they name Snell, a package that it needs, or everything that is
installed. A newer version by its name alone, from the usual index, is an upgrade like any other. Other packages may be
installed, and so may anything in another environment that the command names.
"""

import re
from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from snell.packs.guard.known_names import names, pattern
from snell.packs.guard.known_values import UNKNOWN, Value
from snell.packs.guard.path_classes import Workspace
from snell.packs.guard.rule import Finding, Rule, Trigger
from snell.packs.guard.sensitive_files import PIPX_FOLDER, is_snell_code
from snell.packs.guard.shell.loaded_modules import module_run
from snell.packs.guard.shell.shell_state import HERE, Step
from snell.packs.guard.snell_program import is_clone
from snell.packs.guard.snell_requirements import CHANGES, effect_of, needed_package
from snell.shell.arguments import Arguments, arguments_of
from snell.system.lazy_regex import lazy_regex

RULE = Rule(
    name="own-install",
    family="self",
    instead="leave Snell installed as it is, and let the user update or remove it at a terminal",
)

_PIP = lazy_regex(r"pip[\d.]*$")
_PYTHON = lazy_regex(r"(?:python|pypy|py)[\d.]*$")
_REQUIREMENT = lazy_regex(r"snell\s*(?:\[[^\]]*\])?\s*($|[=<>!~@;].*)", re.IGNORECASE)
_SNELL_SOURCE = lazy_regex(r"(?<![A-Za-z])snell(?![A-Za-z])[^/]*/?$")
_NAMED = lazy_regex(r"(?<![A-Za-z0-9-])snell(?:-hook|-daemon)?(?![A-Za-z0-9-])")
_OTHERS = names("installers_of_others")
_OTHERS_VERBS = pattern("verbs_of_installers")
_REPLACES = ("-U", "--upgrade", "--force-reinstall", "-I", "--ignore-installed", "--force", "-f", "--reinstall")
_VALUED = (
    "-i --index-url --extra-index-url -f --find-links -r --requirement --requirements -c --constraint -t --target "
    "--prefix --root -p --python --python-version --platform --index --default-index --with --from -e --editable "
    "--directory --project"
)
_INDEXES = ("-i", "--index-url", "--extra-index-url", "-f", "--find-links", "--index", "--default-index", "--pip-args")
_INDEX_VARIABLE = lazy_regex(r"(?:PIP|UV)_\w*(?:INDEX|FIND_LINKS|CONFIG)")
_TARGETS = ("--target", "-t", "--prefix", "--root")
_LISTS = ("-r", "--requirement", "--requirements")
_LOADS_PIP = lazy_regex(
    r"\b(?:import|from)\s+(?:[\w., ]{0,200}\b)?pip\b|run_module\(\s*[\"']pip|import_module\(\s*[\"']pip"
)
_LIST = lazy_regex(r"[\[(](?:\s*[\"'][^\"'\n]*[\"']\s*,?)+[\])]")
_STRING = lazy_regex(r"([\"'])([^\"'\n]*)\1")
_LARGEST = 65_536


class _Call(Struct, frozen=True):
    """A package manager, its command, and the environment that is named, if any."""

    tool: str
    verb: str
    given: Arguments
    python: str = ""
    active: str = ""  # from `VIRTUAL_ENV`, which `pip` itself does not read
    has_other_index: bool = False  # by a variable


TRIGGER = Trigger(programs=_OTHERS | {"uv", "virtualenv", "py"}, prefixes=("pip", "python", "pypy", "py2", "py3"))


def find(step: Step, workspace: Workspace) -> Iterator[Finding]:
    if step.where != HERE:
        return
    if step.program in _OTHERS:
        if any(map(_OTHERS_VERBS.match, step.args)) and any(map(_NAMED.search, step.args)):
            yield RULE.deny("it removes, replaces or stops Snell")
        return
    call = _call(step)
    if call is None or call.given.has("--dry-run", "--help", "-h"):
        return
    if call.tool == "venv":
        yield from _judge_environment(call, workspace)
    elif call.tool in ("pipx", "uv tool"):
        yield from _judge_tool(_with_index(call, step), workspace)
    elif not _is_elsewhere(call, workspace):
        yield from _judge_package(_with_index(call, step), workspace, takes_all=any(map(_is_of_pip, step.words)))


def _call(step: Step) -> _Call | None:
    program, words = step.program, list(step.args)
    python = step.words[0].text if step.words and "/" in step.words[0].text else ""
    active = dict(step.env).get("VIRTUAL_ENV", "")
    if _PYTHON.match(program):
        program, words = _run_by_python(step)
    if program in ("venv", "virtualenv"):
        return _Call("venv", "", arguments_of("", words, "-p --python"))
    if program == "uv":
        return _uv_call(words, active)
    if program == "pip-sync":
        given = arguments_of("", words, f"{_VALUED} --python-executable")
        return _Call("pip", "sync", given, given.value("--python-executable") or python, active)
    if program != "pipx" and not _PIP.match(program):
        return None
    verb, rest = _verb(words)
    if program == "pipx" and verb == "runpip":
        verb, rest = _verb(rest[1:]) if rest[:1] == ["snell"] else ("", [])
        return _Call("pip", verb, arguments_of("", rest, _VALUED), PIPX_FOLDER)
    given = arguments_of("", rest, _VALUED)
    return _Call("pipx" if program == "pipx" else "pip", verb, given, given.value("--python") or python, active)


def _run_by_python(step: Step) -> tuple[str, list[str]]:
    """Return the module that an interpreter runs, or the words that a short program passes to pip."""
    module, words = module_run(step.args)
    if module:
        return module, list(words)
    code = step.code.text[:_LARGEST] if step.code else ""
    if _LOADS_PIP.search(code):
        for found in _LIST.finditer(code):
            words = tuple(text for _quote, text in _STRING.findall(found[0]))
            if {"install", "uninstall"} & set(words):
                return "pip", list(words[words[0] == "pip" :])
    return "", []


def _uv_call(words: list[str], environment: str) -> _Call | None:
    verb, rest = _verb(words)
    if verb == "venv":
        return _Call("venv", "", arguments_of("", rest, "-p --python"))
    if verb in ("remove", "add"):
        return _Call("pip", "uninstall" if verb == "remove" else "", arguments_of("", rest, _VALUED), environment)
    if verb not in ("pip", "tool"):
        return None
    verb_below, rest = _verb(rest)
    given = arguments_of("", rest, _VALUED)
    named = given.value("--python", "-p") or environment
    return _Call("pip" if verb == "pip" else "uv tool", verb_below, given, named)


def _verb(words: list[str]) -> tuple[str, list[str]]:
    """Return the first word that is no option, and the other words; an option before it may take a value."""
    at, skip = 0, False
    while at < len(words) and (skip or words[at].startswith("-")):
        skip = not skip and words[at] in ("--python", "-p", "--directory", "--project", "--log", "--cache-dir")
        at += 1
    return (words[at], [*words[:at], *words[at + 1 :]]) if at < len(words) else ("", [])


def _named_environment(call: _Call) -> str:
    return next(iter(call.given.values(*_TARGETS)), "") or call.python


def _is_elsewhere(call: _Call, workspace: Workspace) -> bool:
    """Tell whether the command names an environment that does not run Snell."""
    named = _named_environment(call)
    return named != PIPX_FOLDER and "/" in named and not _runs_snell(named, workspace)


def _runs_snell(named: str, workspace: Workspace) -> bool:
    path, program = workspace.absolute(named), workspace.snell_paths.program
    return is_snell_code(path) or program.holds(path) or program.is_environment(path)


def _is_snell_environment(call: _Call, workspace: Workspace) -> bool:
    """Tell whether the environment runs Snell: the named one, the active one, or else the project's own."""
    named = _named_environment(call) or call.active
    if named == PIPX_FOLDER or "/" in named:
        return named == PIPX_FOLDER or _runs_snell(named, workspace)
    return any(folder.startswith(f"{workspace.project}/") for folder in workspace.snell_paths.program.environment)


def _is_of_pip(word: Value) -> bool:
    """Tell whether the word is output of `pip freeze` or similar: the names of all packages."""
    program = word.detail("output")
    return program == "uv" or _PIP.match(program) is not None


def _judge_package(call: _Call, workspace: Workspace, *, takes_all: bool) -> Iterator[Finding]:
    if call.verb in ("uninstall", "remove"):
        yield from _judge_uninstall(call, workspace, takes_all=takes_all)
    elif call.verb == "sync" and _is_snell_environment(call, workspace) and not _is_development(workspace):
        yield RULE.deny("it removes every package that its list does not name, including those that Snell needs")
    elif call.verb == "install":
        edited = call.given.values("-e", "--editable")
        named = [each for each in (*call.given.operands, *edited) if _is_snell(each, workspace)]
        if named and not _is_upgrade(call, named):
            yield from _judge_replacement(named[0], workspace)
        elif _is_snell_environment(call, workspace) and not _is_development(workspace):
            yield from _judge_needed_packages(call)


def _is_upgrade(call: _Call, named: list[str]) -> bool:
    """Tell whether Snell is installed by its name alone, from the usual index: at most a newer version of it."""
    forced = [name for name in _REPLACES if name not in ("-U", "--upgrade", "-f", "--force")]
    return all(map(_is_name_only, named)) and not call.given.has(*forced) and not _uses_other_index(call)


def _with_index(call: _Call, step: Step) -> _Call:
    return replace(call, has_other_index=any(_INDEX_VARIABLE.match(name) for name, _value in step.env))


def _uses_other_index(call: _Call) -> bool:
    return call.has_other_index or bool(call.given.values(*_INDEXES))


def _judge_uninstall(call: _Call, workspace: Workspace, *, takes_all: bool) -> Iterator[Finding]:
    """Judge removing Snell, or packages that it needs; a file with a list may name any package."""
    operands = call.given.operands
    if call.python == PIPX_FOLDER or any(map(_REQUIREMENT.match, operands)):
        yield RULE.deny("it removes Snell or a package that Snell needs")
        return
    is_here, is_listed = _is_snell_environment(call, workspace), bool(call.given.values(*_LISTS))
    if _is_development(workspace):
        return
    if takes_all or any(map(needed_package, operands)) or (is_here and is_listed):
        yield (RULE.deny if is_here else RULE.ask)("it may remove packages that Snell needs")
    elif is_here and any(UNKNOWN in each for each in operands):
        yield RULE.ask("it removes packages that are only known at run time and that Snell may need")


def _judge_needed_packages(call: _Call) -> Iterator[Finding]:
    if call.given.values(*_TARGETS):
        yield RULE.deny("it overwrites packages in the environment of Snell")
        return
    needed = list(filter(needed_package, call.given.operands))
    if any(effect_of(each) == CHANGES for each in needed):
        yield RULE.deny("it installs another version of a package that Snell needs")
    elif needed and call.given.has(*_REPLACES):
        yield RULE.ask("it replaces a package that Snell needs")


def _is_development(workspace: Workspace) -> bool:
    folders = workspace.snell_paths.program.environment
    return any(
        workspace.snell_paths.program.is_in_own_clone(folder.rstrip("/"), workspace.project) for folder in folders
    )


def _judge_replacement(named: str, workspace: Workspace) -> Iterator[Finding]:
    """Judge installing another Snell: asked about in a clone of Snell, unless that clone already runs."""
    path = workspace.absolute(named.partition("[")[0])
    if workspace.snell_paths.program.is_in_own_clone(path, workspace.project):
        return
    works_on_it = f"{path}/".startswith(f"{workspace.project}/") and is_clone(workspace.project)
    verdict = RULE.ask if works_on_it else RULE.deny
    yield verdict(f"it replaces Snell with `{named}`")


def _judge_tool(call: _Call, workspace: Workspace) -> Iterator[Finding]:
    given, verb = call.given, call.verb
    named = [each for each in given.operands if _is_snell(each, workspace)]
    everything = verb in ("uninstall-all", "reinstall-all") or (verb == "uninstall" and given.has("--all"))
    replaces = verb == "install" and (given.has(*_REPLACES, "--from") or not all(map(_is_name_only, named)))
    changes = verb in ("uninstall", "reinstall", "uninject") or replaces
    changes = changes or (verb == "upgrade" and _uses_other_index(call))
    if everything or (named and changes):
        yield RULE.deny(f"`{call.tool} {verb}` removes or replaces Snell")
    elif verb == "upgrade-all" or (verb == "upgrade" and given.has("--all")) or (named and verb == "inject"):
        yield RULE.ask(f"`{call.tool} {verb}` may change Snell")


def _judge_environment(call: _Call, workspace: Workspace) -> Iterator[Finding]:
    folder = workspace.absolute(next(iter(call.given.operands), ".venv"))
    program = workspace.snell_paths.program
    is_ours = program.is_environment(folder) and not program.is_in_own_clone(folder, workspace.project)
    if is_ours and call.given.has("--clear", "-c"):
        yield RULE.deny(f"it empties `{folder}`, the environment of Snell")


def _is_name_only(requirement: str) -> bool:
    """Tell whether the requirement is only the name, which installs nothing where Snell is installed."""
    found = _REQUIREMENT.fullmatch(requirement)
    return found is not None and not found[1]


def _is_snell(text: str, workspace: Workspace) -> bool:
    if _REQUIREMENT.match(text):
        return True
    if not ("/" in text or text.startswith(".") or text.endswith((".whl", ".gz", ".zip"))):
        return False
    bare = text.partition("[")[0].partition("#")[0]
    bare = re.sub(r"(?<=\w)@[\w.-]+$", "", bare).removesuffix(".git")
    return _SNELL_SOURCE.search(bare) is not None or ("://" not in bare and is_clone(workspace.absolute(bare)))
