"""Stop commands that change what runs automatically: startup files, timers, services, git hooks, preloads."""

import itertools
import re
from collections.abc import Callable, Iterator

from snell.model.tool_names import name_set
from snell.packs.guard.known_names import names, pattern
from snell.packs.guard.known_values import UNKNOWN
from snell.packs.guard.path_classes import Workspace
from snell.packs.guard.rule import ENV, WRITES_APART, Finding, Rule, Trigger
from snell.packs.guard.sensitive_files import is_startup_file
from snell.packs.guard.shell.shell_state import HERE, Step
from snell.system.lazy_regex import lazy_regex

RULE = Rule(name="startup", family="system", instead="say what should be added, and let the user add it")

_EXPORTS = pattern("ordinary_exports")
_LOADER_VARIABLES = names("loader_variables")
_HARMLESS_PRELOAD = lazy_regex(r"jemalloc|tcmalloc|libfaketime|asan|tsan|mimalloc|libgomp|libstdc|fakeroot")

TRIGGER = Trigger(
    programs=name_set("crontab enable at batch launchctl systemctl export declare typeset git npm pnpm yarn"),
    traits=ENV | WRITES_APART,
)


def find(step: Step, _workspace: Workspace) -> Iterator[Finding]:
    if step.where != HERE:
        return
    for path in (*step.writes, *step.appends):
        if is_startup_file(path) and not (path in step.appends and _EXPORTS.fullmatch(step.output.text)):
            adds = path in step.appends and not path.startswith("/etc")
            verdict = _verdict(step.output.text) if adds or "/.git/hooks/" in path else RULE.deny
            yield verdict(f"it changes `{path}`, which runs automatically")
            continue
        if _EVERYDAY_PROGRAM.search(path) and not path.startswith("/bin/"):
            yield RULE.deny(f"`{path}` would run instead of a system program")
            return
    if step.writes or step.appends:
        yield from _ssh_settings(step)
    yield from _timers(step)
    if step.env or step.program in ("export", "declare", "typeset"):
        yield from _search_paths(step)
    yield from _loaded_code(step)


def _loaded_code(step: Step) -> Iterator[Finding]:
    """Judge variables that name code for every program, or for every script of a package manager."""
    for name, value in step.env:
        lead, setting = name[: len(_NPM_SETTING)].lower(), name[len(_NPM_SETTING) :].lower()
        if lead == _NPM_SETTING and setting.replace("_", "-") in _RUN_SETTINGS:
            yield _verdict(value)(f"{name} makes the package manager run `{value}` for every script")
        if name in _LOADER_VARIABLES - {"GIT_SSH_COMMAND"} and value and not _HARMLESS_PRELOAD.search(value):
            yield RULE.deny(f"{name} loads `{value}` into every program")
            return


_SSH_PROGRAM = pattern("ssh_settings_that_run")
_UNCHECKED_HOSTS = pattern("unchecked_hosts")


def _ssh_settings(step: Step) -> Iterator[Finding]:
    """Judge settings of ssh that name a program; lines with a host and a key are ordinary."""
    path = next((path for path in (*step.writes, *step.appends) if path.endswith("/.ssh/config")), "")
    if path:
        takes_input = step.stdin is not None and step.program in (":", "tee", "sponge")
        text = step.stdin.text if step.stdin is not None and takes_input else step.output.text
        edits = step.program in ("sed", "gsed", "perl", "ed")
        if edits or _SSH_PROGRAM.search(" ".join((text, *step.args))):
            yield RULE.ask(f"it changes `{path}`, which can name programs that `ssh` runs")
        elif _UNCHECKED_HOSTS.search(text):
            yield RULE.ask(f"`{path}` makes `ssh` trust any machine that answers in the place of any host")


_EVERYDAY_PROGRAM = pattern("everyday_programs")
_UNSAFE_FOLDER = lazy_regex(r"(?:/tmp|/var/tmp|/dev/shm)(?:/(?![^:]*(?:/bin|/\.bin|made-here))[^:]*)?(?::|$)|\.?:")
_LOADER_OPTIONS = names("loader_options")


def _search_paths(step: Step) -> Iterator[Finding]:
    """Judge `PATH=/tmp/x:$PATH`, which puts a folder that every user can write to before the system's own."""
    exported = (
        [arg.partition("=")[::2] for arg in step.args] if step.program in ("export", "declare", "typeset") else []
    )
    for name, value in (*step.env, *exported):
        if (name == "PATH" and _UNSAFE_FOLDER.match(value)) or (name in _LOADER_OPTIONS and _TEMPORARY.search(value)):
            yield RULE.ask(f"{name} makes programs from `{value.partition(':')[0]}` run instead of the usual ones")


def _verdict(*texts: str) -> Callable[[str], Finding]:
    """Deny a program in a temporary folder, and ask about any other: a project's own may have to start by itself."""
    return RULE.deny if any(map(_TEMPORARY.search, texts)) else RULE.ask


_NPM_SETTING = "npm_config_"
_TEMPORARY = lazy_regex(r"(?:^|[\s=:;&|('\"]|-[rM])(?:/tmp|/var/tmp|/dev/shm)/")


def _timers(step: Step) -> Iterator[Finding]:
    args = step.args
    if step.program == "crontab" and not {"-l", "-h", "-V", "--help"} & set(args):
        yield (RULE.ask if "-e" in args else RULE.deny)("it changes the timer jobs")
    elif step.program == "enable" and "-f" in args:
        yield RULE.deny("it loads a library into the shell")
    elif step.program in ("at", "batch") and not {"-l", "-V"} & set(args):
        yield RULE.ask("it runs a command later")
    elif step.program == "launchctl" and args[:1] and args[0] in _LAUNCHCTL_VERBS:
        yield RULE.deny("it changes what the system starts automatically")
    elif step.program == "systemctl" and {"enable", "link", "edit"} & set(args[:3]):
        yield _verdict(*args)("it changes what the system starts automatically")
    elif step.program == "export" and any(arg.startswith(("LD_PRELOAD=", "DYLD_INSERT_LIBRARIES=")) for arg in args):
        yield RULE.deny("it loads a library into every program")
    elif step.program in ("git", "npm", "pnpm", "yarn"):
        yield from _connections(step)


_LAUNCHCTL_VERBS = frozenset(("load", "bootstrap", "submit", "enable", "unload", "bootout", "remove"))


def _connections(step: Step) -> Iterator[Finding]:
    """Judge settings for where git and package managers connect to, and for what git runs."""
    is_git_config = step.program == "git" and "config" in step.args
    if is_git_config and _changes_host(step.args):
        yield RULE.ask("it makes git use another host than its addresses say")
    elif _disables_tls_checks(step.args):
        yield RULE.ask("it disables TLS certificate checks")
    elif step.program != "git" and _sets_script_program(step.args):
        yield RULE.ask("it changes which program the package manager runs for every script")
    elif is_git_config and _sets_git_program(step.args):
        yield _verdict(*step.args)("it changes which programs git runs automatically")


def _sets_git_program(args: tuple[str, ...]) -> bool:
    named = {"core.hooksPath", "core.sshCommand", "core.fsmonitor", "core.pager", "include.path"} & set(args)
    if any(
        (re.match(r"alias\.|includeif\.", name, re.IGNORECASE) and _RUNS.match(value))
        or (re.match(r"credential\.(?:.+\.)?helper$", name, re.IGNORECASE) and _RUNS_HELPER.match(value))
        for name, value in itertools.pairwise(args)
    ):
        return True
    reads = {"--get", "--unset", "--list", "-l"} & set(args) or len(args) <= args.index("config") + 2
    named -= {"core.fsmonitor"} if args[-1] in ("true", "false") else set()  # git's own
    is_project_folder = "core.hooksPath" in named and "--global" not in args and re.match(r"[.\w]", args[-1])
    return bool(named) and not reads and not is_project_folder


_RUNS = lazy_regex(r"!(?!git\b)|.*gitconfig|[~./]")
_RUNS_HELPER = pattern("runs_git_helper")
# Settings of package managers that name the program which runs scripts, or code that it loads.
_RUN_SETTINGS = name_set("script-shell scriptshell shell node-options nodeoptions git onload-script yarnpath pnpmfile")


def _sets_script_program(args: tuple[str, ...]) -> bool:
    words = [arg for arg in args if not arg.startswith("-")]
    named = words[2].partition("=")[0] if words[:2] == ["config", "set"] and len(words) > 2 else ""
    return named.lower() in _RUN_SETTINGS


def _disables_tls_checks(args: tuple[str, ...]) -> bool:
    return any(
        name.lower() in ("http.sslverify", "strict-ssl", "enablestrictssl") and value.lower() in ("false", "0", "no")
        for name, value in itertools.pairwise(args)
    )


def _changes_host(args: tuple[str, ...]) -> bool:
    """Tell whether `url.NEW.insteadOf OLD` names another host."""
    for name, old in itertools.pairwise(args):
        found = re.fullmatch(r"url\.(.+)\.(?:insteadof|pushinsteadof)", name, re.IGNORECASE)
        if found and _host(found[1]) and _host(old) and _host(found[1]) != _host(old):
            return UNKNOWN not in found[1] + old
    return False


def _host(address: str) -> str:
    found = re.match(r"(?:\w+://)?(?:[^@/]*@)?([\w.-]+\.\w+)", address)
    return found[1].lower() if found else ""
