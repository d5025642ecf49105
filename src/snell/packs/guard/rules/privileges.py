"""Stop commands that change users, passwords or root access, or that open a root shell."""

import re
from collections.abc import Iterator

from snell.model.tool_names import name_set
from snell.packs.guard.known_names import pattern
from snell.packs.guard.path_classes import Workspace
from snell.packs.guard.rule import WRITES_APART, Finding, Rule, Trigger
from snell.packs.guard.shell.shell_state import CONTAINER, HERE, Step
from snell.system.lazy_regex import lazy_regex

RULE = Rule(name="privileges", family="system", instead="let an administrator of the machine do this")

_ACCOUNTS = name_set(
    "sysadminctl groupmod groupdel newusers useradd adduser usermod userdel deluser groupadd gpasswd chpasswd "
    "passwd visudo chsh dscl vipw"
)
_FILES = pattern("privilege_files")
_HOST_ROOT = lazy_regex(r"^(?:/|/etc|/root|/home|/var/run/docker\.sock|/var/run|/proc|/sys)/?:")


_ENGINES = frozenset(("docker", "podman", "nerdctl"))
_SHELLS = frozenset(("bash", "sh", "zsh", "fish"))
TRIGGER = Trigger(
    programs=_ACCOUNTS | _ENGINES | _SHELLS | {"nsenter", "sudo", "doas", "su", "kubectl", "oc"}, traits=WRITES_APART
)


def find(step: Step, _workspace: Workspace) -> Iterator[Finding]:
    if step.where == CONTAINER:
        return
    yield from _other_user(step)
    changed = next(filter(_FILES.search, (*step.writes, *step.appends)), "") if step.where == HERE else ""
    if changed:
        yield RULE.deny(f"it changes `{changed}`, which controls access to this machine")
    elif step.program in _ENGINES and "run" in step.args[:3]:
        yield from _container(step)
    elif step.program in ("kubectl", "oc") and {"run", "create", "debug", "patch"} & set(step.args):
        yield from _pod(step)


def _other_user(step: Step) -> Iterator[Finding]:
    program, args = step.program, set(step.args)
    if program == "nsenter" and re.search(r"(?:-t|--target)[= ]?1\b", " ".join(step.args)):
        yield RULE.deny("it leaves the container and enters the host")
    elif (program in ("sudo", "doas") and {"-i", "-s", "--login", "--shell"} & args) or (
        step.elevated and program in _SHELLS and not args and step.stdin is None
    ):
        yield RULE.ask("it opens a root shell")
    elif program == "sudo" and not {"-S", "-kS", "-Sk", "-SE", "-ES", "--stdin"}.isdisjoint(args):
        yield RULE.ask("it gives `sudo` a password from a pipe")
    elif program in ("kubectl", "oc") and "debug" in args and re.search(r" nodes?/", f" {step.text}"):
        yield RULE.ask("it opens a shell with the rights of root on a node of the cluster")
    elif program == "su" and step.where == HERE and "-c" not in args:
        yield RULE.ask("it switches to another user")
    elif program in _ACCOUNTS and not {"--help", "--version", "-h", "-S", "--status"} & args and not _only_checks(step):
        yield RULE.deny(f"`{program}` changes the users of this machine")


def _only_checks(step: Step) -> bool:
    return step.program in ("visudo", "vipw", "dscl") and bool(
        {"-c", "-cf", "--check", "-V", "-read", "-list", "-search"} & set(step.args)
    )


_HOST_RIGHTS = lazy_regex(r"[\"'](privileged|hostPID|hostPath)[\"']\s*:\s*(?:true|\{)|--(privileged)(?:=true)?$")


def _pod(step: Step) -> Iterator[Finding]:
    """Judge a pod that the command line describes."""
    rights = {found[1] or found[2] for arg in step.args for found in _HOST_RIGHTS.finditer(arg)}
    if rights:
        verdict = RULE.deny if len(rights) > 1 or "hostPath" in rights else RULE.ask
        yield verdict("the pod gets root access to a node of the cluster")


def _container(step: Step) -> Iterator[Finding]:
    for before, arg in zip(("", *step.args), step.args, strict=False):
        attached = arg.partition("=")[2] if arg.startswith(("--volume=", "-v=")) else ""
        mount = arg if before in ("-v", "--volume") else attached
        if _HOST_ROOT.match(mount) or re.search(r"(?:source|src)=/(?:,|$|etc|root)", arg):
            sock = "docker.sock" in mount
            yield (RULE.ask if sock else RULE.deny)(
                f"the container gets access to the host's `{mount.partition(':')[0] or '/'}`"
            )
            return
    if any(re.search(r"(?:qemu-user-static|tonistiigi/binfmt)", arg) for arg in step.args):
        return
    if "--privileged" in step.args and "--pid=host" in step.args:
        yield RULE.deny("the container gets root access to all processes of the host")
    elif "--privileged" in step.args or "--pid=host" in step.args:
        yield RULE.ask("the container gets root access to the host")
