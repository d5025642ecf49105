"""Stop commands that stop the machine, its services, its network, or processes of other users."""

import re
from collections.abc import Iterator

from snell.model.tool_names import name_set
from snell.packs.guard.known_names import names, pattern
from snell.packs.guard.known_values import LISTED
from snell.packs.guard.path_classes import Workspace
from snell.packs.guard.rule import Finding, Rule, Trigger, given_to
from snell.packs.guard.shell.shell_state import CONTAINER, Step
from snell.shell.arguments import arguments_of, matches_any
from snell.shell.programs import program_row
from snell.system.lazy_regex import lazy_regex

RULE = Rule(name="machine", family="system", instead="stop one process by its id, or let the user do it")

_POWER = frozenset(("shutdown", "reboot", "poweroff", "halt", "init", "telinit"))
_GUARDS = pattern("guarding_services")
_ESSENTIAL = pattern("essential_packages")
_REMOVES = pattern("removes_packages")
_KERNEL = frozenset(("rmmod", "insmod", "modprobe", "kexec", "dmsetup"))
_SERVICE_VERBS = names("verbs_that_stop_services")
_PACKAGE_MANAGERS = name_set("apt apt-get dnf yum zypper apk pacman dpkg rpm snap brew")
_KILLERS = frozenset(("kill", "pkill", "killall", "skill"))
_SERVICES = frozenset(("systemctl", "service", "rc-service"))
TRIGGER = Trigger(programs=_POWER | _KERNEL | _KILLERS | _SERVICES | _PACKAGE_MANAGERS, rows=("breaks", "changes"))


def find(step: Step, _workspace: Workspace) -> Iterator[Finding]:
    if step.where == CONTAINER:
        return
    program, args = step.program, step.args
    if program in _POWER:
        is_other_level = program in ("init", "telinit") and args[:1] not in (("0",), ("6",), ("1",))
        if not is_other_level and not arguments_of(step.program, args).has("--help", "-c"):
            yield RULE.deny(f"`{program}` stops the machine")
    elif program in _KERNEL:
        if args and not arguments_of(step.program, args).has("-n", "--dry-run", "-l"):
            yield RULE.ask(f"`{program}` changes the running kernel")
    elif program in _KILLERS:
        yield from _kill(step)
    elif program in _SERVICES:
        yield from _service(args)
    else:
        yield from _settings(step)


def _service(args: tuple[str, ...]) -> Iterator[Finding]:
    verb = next((arg for arg in args if arg in _SERVICE_VERBS), "")
    if verb and not {"--user", "--dry-run"} & set(args):
        critical = verb in ("poweroff", "reboot", "halt", "emergency", "rescue") or any(map(_GUARDS.match, args))
        yield (RULE.deny if critical else RULE.ask)(f"it runs `{verb}` on a system service")


def _settings(step: Step) -> Iterator[Finding]:
    given, row = given_to(step), program_row(step.program)
    if any(map(_ESSENTIAL.match, step.args)) and _REMOVES.match(" ".join((step.program, *step.args))):
        yield RULE.deny(f"`{step.text}` removes a package that the system needs")
    elif matches_any(given, row.breaks):
        yield RULE.deny(f"`{step.text}` changes the machine for all its users")
    elif matches_any(given, row.changes):
        yield RULE.ask(f"`{step.text}` changes the machine for all its users")


def _kill(step: Step) -> Iterator[Finding]:
    args = step.args
    if _NO_END.search(" ".join(args)):
        return
    if step.program == "kill":
        yield from _kill_listed(step)
        targets = [arg for arg in args if re.fullmatch(r"-?\d+|\$\$", arg)]
        if ("-1" in targets[-1:] and len(args) > 1) or args[-1:] == ("1",):
            yield RULE.deny("it kills all processes of the user, or process 1")
    elif arguments_of(step.program, args, "-u -U -f").has("-u", "-U") and not _names_program(args):
        yield RULE.deny(f"it kills all processes of a user: `{step.text}`")
    elif step.elevated or any(map(_AT_ONCE.match, args)):
        yield from _kill_at_once(step)


_NO_END = pattern("ends_no_process")
_AT_ONCE = lazy_regex(r"(?:-|-s|-n|--signal=)?(?:9|(?:SIG)?KILL)$")


def _kill_listed(step: Step) -> Iterator[Finding]:
    """Judge `kill $(pgrep NAME)` and `ps ... | xargs kill` as a command that finds the processes itself."""
    listed = next((word.detail(f"{LISTED} ") for word in step.words[1:] if word.has(LISTED)), "")
    kind, _, text = listed.partition(" ")
    if kind in ("all", "user"):
        yield RULE.deny(f"it kills all processes{' of a user' if kind == 'user' else ''}: `{step.text}`")
    elif kind and (step.elevated or any(map(_AT_ONCE.match, step.args))):
        verdict = RULE.deny if any(map(_GUARDS.match, re.findall(r"[\w.-]+", text))) else RULE.ask
        yield verdict(f"it kills all processes that a search finds, not only your own: `{text}`")


def _kill_at_once(step: Step) -> Iterator[Finding]:
    args = step.args
    if any(map(_GUARDS.match, args)):
        yield RULE.deny(f"it kills a service that the machine needs: `{step.text}`")
    elif step.program == "killall" or arguments_of(step.program, args, "-u -U -f").has("-u", "-U"):
        yield RULE.ask(f"it kills all processes of that name or user, not only your own: `{step.text}`")
    elif not any(not arg.startswith("-") for arg in args) or args[-1] in (".", ".*", ""):
        yield RULE.deny("it kills all processes")
    else:
        yield RULE.ask(f"it kills by a pattern that may match other processes: `{step.text}`")


def _names_program(args: tuple[str, ...]) -> bool:
    return bool(arguments_of("pkill", args, "-u -U --euid --uid").operands)
