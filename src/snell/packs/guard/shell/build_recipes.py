"""
Find what `make test`, `npm run x` or `git commit` would run, in files that this line or this session wrote.

Only what is asked for counts: a target with what it needs, a script with what comes before and after it, the hooks of
one git command.
"""

import posixpath
import re
from collections.abc import Iterator

from snell.packs.guard.known_names import names, table
from snell.shell.build_targets import BUILD_FILES, SCRIPT_RUNNERS, TASKFILES, Targets, read_targets, recipe_lines
from snell.system.lazy_regex import lazy_regex

_SCRIPT = lazy_regex(r'"([\w:.-]+)"\s*:\s*"((?:\\.|[^"\\])*)"')
_TASK_LINE = lazy_regex(r"^\s+-\s+(?:cmd:\s*)?(.+)$|^\s+cmds?:\s*\[?([^\[\]\n|]+)\]?\s*$")

_FLOW_TEXT = lazy_regex(r"\"([^\"]+)\"|'([^']+)'")

_INSTALLING = ("preinstall", "install", "postinstall", "prepublish", "prepare")
_GIT_HOOKS = {verb: hooks.split(",") for verb, hooks in table("hooks_of_git").items()}
# Programs that run a file of this name by itself, and its language.
LOADED = {program: tuple(loaded.split(",")) for program, loaded in table("files_loaded_by_their_name").items()}
# Programs that do on other machines, or in a cluster, what the files in their words say.
_PLANS = ("ansible-playbook", "kubectl", "oc", "docker", "podman", "docker-compose", "podman-compose")
_COMPOSE = lazy_regex(r"(?:docker-)?compose(?:\.\w+)?\.ya?ml")
_CONFIGURED = names("tools_with_settings_that_run")
_PLAY_LINE = lazy_regex(r"(?m)^[ \t]*(?:-\s*)?(?:ansible\.builtin\.)?(?:shell|command|raw|cmd)\s*:\s*[|>]?-?\s*(.+)$")
_HOST_RIGHTS = {
    "--privileged": lazy_regex(r"\bprivileged:\s*true"),
    "--pid=host": lazy_regex(r"\b(?:hostPID:\s*true|pid:\s*[\"']?host\b)"),
    "-v /:/mnt": lazy_regex(r"(?m)(?:^\s*-|[\[,])\s*[\"']?/(?:etc|root|var/run/docker\.sock)?:/"),
    "-v /:/host": lazy_regex(r"\bhostPath:[\s{]*path:\s*[\"']?/(?:[\"'\s},]|etc|root|var/run|$)"),
}
_ADMIN = lazy_regex(r"(?s)\bkind:\s*[\"']?(?:Cluster)?RoleBinding\b.*\bname:\s*[\"']?cluster-admin\b")
RECIPE_READERS = frozenset(("pytest", "py.test", "git", *_CONFIGURED, *_PLANS, *SCRIPT_RUNNERS, *LOADED, *BUILD_FILES))


def recipes(program: str, args: list[str], files: dict[str, str], cwd: str) -> Iterator[tuple[str, str]]:
    """Yield language (`sh` for a shell) and code that a program runs; `files`: paths and the known text of each."""
    if program == "git":
        yield from (("sh", text) for path, text in files.items() if _is_hook(path, args))
    elif program in _PLANS:
        named = {posixpath.normpath(posixpath.join(cwd, arg.partition("=")[2] or arg)) for arg in args}
        if "compose" in (program[-7:], *args[:1]) and "up" in args:
            named |= {path for path in files if _COMPOSE.fullmatch(posixpath.basename(path))}
        yield from (("sh", line) for path, text in files.items() if path in named for line in _plan_code(program, text))
    elif program in ("pytest", "py.test"):
        yield from (("python", text) for path, text in files.items() if _is_tested(path, args, cwd))
    here = {path.removeprefix(posixpath.join(cwd, "")): text for path, text in files.items()}
    if program in SCRIPT_RUNNERS:
        yield from (("sh", line) for line in _code_of_scripts(here.get("package.json", ""), args))
    for name in BUILD_FILES.get(program, ()):
        yield from (("sh", line) for line in _lines_of_targets(name, here.get(name, ""), args))
    yield from _own_files(program, args, here)


def _own_files(program: str, args: list[str], here: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield language and text of files in the folder that the program runs by itself."""
    if program in _CONFIGURED:
        starts = (f"{program}.config.", f".{program}rc.", f"{program}file.")
        yield from (("node", text) for name, text in here.items() if name.lower().startswith(starts))
    name, language = LOADED.get(program, ("", ""))
    if name in here and (not program.startswith("pip") or any(arg.startswith((".", "-e")) for arg in args)):
        yield language, here[name]


def _plan_code(program: str, text: str) -> list[str]:
    """Return the commands of a playbook; for a manifest, the command for a container with the same rights."""
    if program == "ansible-playbook":
        return [line.strip("\"'") for line in _PLAY_LINE.findall(text)]
    rights = [option for option, pattern in _HOST_RIGHTS.items() if pattern.search(text)]
    lines = [f"docker run {' '.join(rights)} image"] if rights else []
    return [*lines, "kubectl create clusterrolebinding x --clusterrole=cluster-admin"] if _ADMIN.search(text) else lines


_TEST = lazy_regex(r"conftest\.py|test_\w+\.py|\w+_test\.py")


def _is_tested(path: str, args: list[str], cwd: str) -> bool:
    """Return whether pytest runs this file: a test that is asked for, or a `conftest.py` above one."""
    folder, name = posixpath.split(path)
    if not _TEST.fullmatch(name) or not f"{folder}/".startswith(f"{cwd}/"):
        return False
    asked = [posixpath.normpath(f"{cwd}/{arg.partition('::')[0]}") for arg in args if "/" in arg or arg.endswith(".py")]
    above = name == "conftest.py" and any(f"{each}/".startswith(f"{folder}/") for each in asked)
    return not asked or above or any(f"{path}/".startswith(f"{each}/") for each in asked)


def recipe_line_as_shell(recipe: str) -> str:
    """Return a line of a recipe as the shell gets it: `$(HOME)` and `{{x}}` are variables, `$$` is a dollar."""
    text = re.sub(r"\$[({](\w+)[)}]", r"${\1}", recipe).replace("$$", "$")
    return re.sub(r"\{\{\s*(\w+)\s*\}\}", r"${\1}", text)


def _lines_of_targets(file: str, text: str, args: list[str]) -> list[str]:
    """Return the lines of the targets that are asked for and of those they need; if none is named, of the first."""
    found: Targets = {}
    if file in TASKFILES and text.lstrip().startswith("{"):  # any text in it may be a command
        return [double or single for double, single in _FLOW_TEXT.findall(text)]
    read_targets(file, text, found)
    for target in found.values():
        if " -" in f" {' '.join(target.needs)}":
            target.lines.append(" ".join(target.needs))  # no target has such a name; the author means a command
    first = [name for name, target in found.items() if not name.startswith(".") and [*target.lines, *target.needs]][:1]
    asked = [arg for arg in args if arg in found] or (["default"] if file in TASKFILES else first)
    lines = recipe_lines(asked, found)
    if file in TASKFILES:
        return [(task[1] or task[2]).strip().strip("'\"") for task in map(_TASK_LINE.match, lines) if task]
    return [recipe_line_as_shell(line.strip().lstrip("@-+")) for line in lines if line.strip()]


def _code_of_scripts(text: str, args: list[str]) -> list[str]:
    words = [arg for arg in args if not arg.startswith("-")]
    verb = words[0] if words else "install"
    if verb in ("run", "run-script") and len(words) > 1:
        asked: tuple[str, ...] = (words[1],)
    elif verb in ("install", "i", "ci", "add"):
        asked = _INSTALLING
    else:
        asked = (verb,)
    named = {f"{lead}{name}" for name in asked for lead in ("pre", "", "post")}
    return [_unescape(script) for name, script in _SCRIPT.findall(text) if name in named]


def _unescape(text: str) -> str:
    return re.sub(r"\\(.)", lambda found: {"n": "\n", "t": "\t"}.get(found[1], found[1]), text)


def _is_hook(path: str, args: list[str]) -> bool:
    verb = next((arg for arg in args if arg in _GIT_HOOKS), "")
    folder, name = posixpath.split(path)
    return bool(verb) and name in _GIT_HOOKS[verb] and folder.endswith(("/.husky", "/.git/hooks", "/.githooks"))
