"""
Stop commands that run code from the network which was not reviewed.

This covers `curl ... | sh`, `bash <(wget ...)`, `eval "$(curl ...)"`, a download that is then run, and a socket that is
connected to a shell. Installers of well-known tool chains (rustup, uv, nvm, ...) may run as the user.
"""

import itertools
import re
from collections.abc import Callable, Iterator

from snell.model.tool_names import name_set
from snell.packs.guard.file_lookups import MISSING, path_kind
from snell.packs.guard.known_names import names, pattern
from snell.packs.guard.known_values import NETWORK, PACKAGE
from snell.packs.guard.path_classes import Workspace
from snell.packs.guard.rule import ADDRESS, CODE, FETCHED, Finding, Rule, Trigger, given_to, only_asks
from snell.packs.guard.shell.network_transfers import CLONE, is_forge, is_local
from snell.packs.guard.shell.shell_state import HERE, Step
from snell.shell.arguments import matches_any
from snell.shell.programs import is_known, program_row
from snell.system.lazy_regex import lazy_regex

RULE = Rule(name="remote-code", family="execution", instead="download to a file, read it, and let the user run it")

_PUBLISHER = pattern("publisher")
_DEV_TCP = lazy_regex(r"^/dev/(?:tcp|udp)/")


_RUN_FILES = names("programs_that_run_files")
_UNUSUAL_HOST = pattern("unusual_host")
_INPUT_IS_RUN = name_set("psql mysql mariadb sqlite3 mongosh mongo redis-cli ed make gdb at batch crontab")
_SOCKETS = frozenset(("nc", "ncat", "netcat", "socat"))
_SHELLS = name_set("sh bash dash zsh ksh ash")
TRIGGER = Trigger(
    programs=_SOCKETS | _SHELLS | {"deno", "go", "ssh", "autossh"},
    traits=CODE | ADDRESS | FETCHED,
    rows=("attacks", "fetches_code"),
)


def find(step: Step, workspace: Workspace) -> Iterator[Finding]:
    if step.words[-1].has(PACKAGE) or step.program == "deno":
        yield from _unknown_package(step, workspace)
    if step.code is not None and step.code.has(NETWORK):
        yield from _fetched_code(step, step.code.detail(NETWORK))
        return
    for check in (_fetched_program, _packages_by_address, _attacks, _input_and_packages, _connections):
        findings = list(check(step))
        if findings:
            yield from findings
            return


def _unknown_package(step: Step, workspace: Workspace) -> Iterator[Finding]:
    """Judge `npx -y NAME`: a package that few use is downloaded and run; of a name with a scope the scope counts."""
    runner = "uvx" if step.program in ("uvx", "pipx") else "npx"
    given = given_to(step)
    if step.where == HERE and not (step.program in ("pnpm", "yarn") and "exec" in given.operands[:1]):
        options = ("--from", "--spec", "--package") if runner == "uvx" else ("-p", "--package")
        names = given.values(*options) or step.args[-1:]
        names = [arg[4:] for arg in step.args if arg.startswith("npm:")] if step.program == "deno" else names
        unknown = next((name for name in names if not _is_well_known(name, runner, workspace)), "")
        if unknown:
            yield RULE.ask(f"it downloads and runs `{unknown}`, a package that is not well known")


PACKAGE_NAME = lazy_regex(r"((?:@[\w.-]+/)?\w[\w.-]*?)(?:\[[\w,-]*\])?(?:@[\w.^~*<>=|-]*|[=<>~!]=.*)?")


def _is_well_known(requirement: str, runner: str, workspace: Workspace) -> bool:
    """Tell whether many use this package, or the project has it; addresses and unknown parts are for other checks."""
    known = program_row(runner).well_known
    address = _REPOSITORY.match(requirement)
    if address and (is_forge(requirement) if address[1] else runner == "npx" or address[2]):
        owner = address[address.lastindex or 0].lower()
        return bool({owner, f"@{owner}"} & (known | program_row("npx").well_known))
    found = PACKAGE_NAME.fullmatch(requirement)
    name = found[1] if found else ""
    if not name or {name.lower(), name.partition("/")[0]} & known or name.startswith("create-") or is_known(name):
        return True
    folders = dict.fromkeys((workspace.cwd, workspace.project))
    places = ("", ".bin/") if runner == "npx" else ()
    return any(path_kind(f"{each}/node_modules/{place}{name}") != MISSING for each in folders for place in places)


_REPOSITORY = lazy_regex(
    r"(?:git\+)?\w+://[^/]+/([\w.-]+)/|(?:github|gitlab|bitbucket|gist):([\w.-]+)|(\w[\w.-]*)/[\w.-]+$"
)
TOOLS = names("downloaded_tools")
_SHOWS_VERSION = frozenset(("version", "--version", "-v", "-V", "--help", "-h", "help", "--client"))


def _is_tool(name: str, source: str) -> bool:
    """Tell whether many download this program, or its publisher is well known."""
    known = TOOLS | program_row("npx").well_known | program_row("uvx").well_known
    return name in known or bool(_PUBLISHER.match(source) or _DISTRIBUTORS.match(source))


def _fetched_code(step: Step, source: str) -> Iterator[Finding]:
    if _PUBLISHER.match(source) and not step.elevated and step.where == HERE:
        return
    verdict = RULE.ask if source.startswith(CLONE) else RULE.deny
    yield verdict(f"`{step.program}` runs code from {f'`{source}`' if source else 'the network'} that was not reviewed")


def _fetched_program(step: Step) -> Iterator[Finding]:
    name = step.words[0]
    if name.has(NETWORK) and name.is_known:  # a folder of PATH has it, where tools are put once they were checked
        if not _is_tool(step.program, name.detail(NETWORK)) and not _SHOWS_VERSION.issuperset(step.args):
            yield RULE.ask(f"it runs `{name.text}`, which was just downloaded and is not well known")
    elif name.has(NETWORK):
        yield RULE.deny("the program that it runs comes from the network")
    elif name.text.startswith(("http://", "git+http://")):
        yield RULE.deny("it runs a package from an unencrypted address")
    elif "://" in name.text and _PACKAGE_ADDRESS.match(name.text) and not is_forge(name.text):
        yield RULE.ask("it runs a package directly from an address")


def _packages_by_address(step: Step) -> Iterator[Finding]:
    fetches = matches_any(given_to(step), program_row(step.program).fetches_code)
    fetches = fetches and (step.program == "rpm" or not only_asks(step))  # of which `-h` shows how far it is
    if fetches and not any(map(_DISTRIBUTORS.match, step.args)):
        verdict = RULE.deny if any(map(_UNENCRYPTED.match, step.args)) else RULE.ask
        yield verdict(f"`{step.text[:80]}` downloads code that runs here and was not reviewed")
    elif step.program == "deno" and step.args[:1] == ("run",) and any(arg.startswith("http") for arg in step.args):
        is_open = any(map(_UNENCRYPTED.match, step.args)) or {"-A", "--allow-all"} & set(step.args)
        verdict = RULE.deny if is_open and not any(map(_PUBLISHER.match, step.args)) else RULE.ask
        yield verdict("it runs a program directly from an address")
    elif _is_installed_download(step):
        yield RULE.ask("it installs a package from the network that was not reviewed")
    elif (
        step.program == "go"
        and step.args[:1] in (("run",), ("install",))
        and any(map(_UNUSUAL_HOST.match, step.args[1:]))
    ):
        yield RULE.ask("it downloads and runs a program from an unusual host")


_INSTALLS = pattern("installs_packages")
_DISTRIBUTORS = pattern("distributors")


def _is_installed_download(step: Step) -> bool:
    """Tell whether a file that this line or session has downloaded is installed as a package, with its scripts."""
    sources = [label.partition(" ")[2] for label in step.touched if label.startswith(NETWORK)]
    return (
        any(not (is_forge(each) or is_local(each) or _DISTRIBUTORS.match(each)) for each in sources)
        and _INSTALLS.match(f"{step.program} {' '.join(step.args)}") is not None
    )


def _attacks(step: Step) -> Iterator[Finding]:
    attack = program_row(step.program).attacks
    if step.program in ("ssh", "autossh") and any(re.match(r"-\w*R", arg) for arg in step.args):
        yield _tunnel_verdict(step)("it opens a tunnel from another machine into this one")
    elif attack == "tunnel":
        yield _tunnel_verdict(step)(f"`{step.program}` opens a tunnel from the internet into this machine")
    elif attack == "tool" or "stratum+" in "\0".join(step.args):
        yield RULE.deny(f"`{step.program}` is an attack tool or a coin miner")
    elif attack == "scanner" and not any(map(is_local, step.args)):
        yield RULE.ask(f"`{step.program}` scans other machines, or listens to their traffic")


_LOGINS = lazy_regex(r"(?:.*:)?(?:22|3389|5900)")  # ports of ssh and of remote desktops


def _tunnel_verdict(step: Step) -> Callable[[str], Finding]:
    """Deny a tunnel by which others can log in, and ask about any other: a project's service may need one."""
    return RULE.deny if any(map(_LOGINS.fullmatch, step.args)) else RULE.ask


def _input_and_packages(step: Step) -> Iterator[Finding]:
    source = step.stdin.detail(NETWORK) if step.stdin is not None else ""
    if step.program in _RUN_FILES and any(label.startswith(NETWORK) for label in step.touched):
        yield RULE.ask(f"`{step.program}` runs a file from the network that was not reviewed")
    elif step.stdin is not None and step.stdin.has(NETWORK) and _runs_input(step) and not is_local(source):
        yield RULE.ask(f"`{step.program}` runs commands from the network that were not reviewed")
    elif _installs_by_address(step):
        is_open = any(map(_UNENCRYPTED.match, step.args))
        verdict = RULE.deny if is_open else RULE.ask
        yield verdict("it installs or runs a package from an address that is no package registry")


def _connections(step: Step) -> Iterator[Finding]:
    if step.program in _SOCKETS:
        yield from _socket(step)
    elif any(_DEV_TCP.match(path) for path in (*step.reads, *step.writes)) and step.program in _SHELLS:
        yield RULE.deny("it connects a shell to another machine")
    elif any(map(_UNENCRYPTED.match, step.args)):
        if any(_PROGRAMS.search(path) for path in step.writes):
            yield RULE.ask("it installs a program that was downloaded without encryption")
        elif is_installer(step):
            verdict = RULE.deny if any(map(_BARE_ADDRESS.match, step.args)) else RULE.ask
            yield verdict("it installs or runs a package that was downloaded without encryption")


def _runs_input(step: Step) -> bool:
    """Tell whether the program runs its input."""
    args = step.args
    applies = step.program in ("kubectl", "oc", "awk", "gawk", "ansible-playbook") and "-" in args
    loads = step.program in ("docker", "podman") and args[:1] == ("load",)
    return applies or loads or (step.program in _INPUT_IS_RUN and not {"-c", "-e", "--eval"} & set(args))


_PACKAGE_ADDRESS = lazy_regex(r"^(?:--(?:from|spec|package|git)=?)?(?:git\+|hg\+)?(?:https?|git|ssh)://(?P<rest>\S+)")


def _installs_by_address(step: Step) -> bool:
    """Tell whether a package is given by address (`npx https://x.example/a.tgz`); an index or proxy does not count."""
    if "://" not in "\0".join(step.args):
        return False
    if not is_installer(step) and step.program not in ("uvx", "brew", "terraform", "ansible-pull"):
        return False
    takes = {"install", "i", "add", "run", "dlx", "exec", "x", "create", "init"} & set(step.args[:4])
    if step.program in ("helm", "kubectl", "conda") or "source" in step.args[:1]:
        return False  # charts, manifests and channels are normally given by address
    if not takes and step.program not in ("npx", "bunx", "uvx", "pipx", "ansible-pull"):
        return False
    for before, arg in itertools.pairwise(("", *step.args)):
        index = before.startswith("-") and re.search(r"url|index|proxy|registry|source|host|find-links|^-[if]$", before)
        if _PACKAGE_ADDRESS.match(arg) and not index and not is_forge(arg) and not _PACKAGES.search(arg):
            return not is_local(arg)
    return False


_PACKAGES = pattern("package_publishers")


_PROGRAMS = lazy_regex(r"/s?bin/[^/]+$")
_INSTALLERS = names("package_installers")
_UNENCRYPTED = pattern("unencrypted_address")


_BARE_ADDRESS = lazy_regex(r"(?:--[\w-]+=)?(?:\w+\+)?http://\d+\.\d+\.\d+\.\d+[:/]")  # a number, no name


def is_installer(step: Step) -> bool:
    return step.program in _INSTALLERS or (step.program.startswith("python") and step.args[:2] == ("-m", "pip"))


def _socket(step: Step) -> Iterator[Finding]:
    text = " ".join(step.args)
    executes = any(re.match(r"-\w*e$|-[a-z]*c$|--(?:sh-|lua-)?exec(?:=|$)", arg) for arg in step.args)
    if (step.program != "socat" and executes) or (
        step.program == "socat" and re.search(r"\b(?:EXEC|SYSTEM|SHELL)(?::|\b)", text, re.IGNORECASE)
    ):
        yield RULE.deny("it connects a program to a network socket")
