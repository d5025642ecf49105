"""
Stop commands that copy the repository or complete folders to other machines.

This covers a push to an unusual host or with the key of another service, a push after the remote was changed to
another host, a home folder or the whole project copied to cloud storage or through `ssh`, and a file server for a disk
or a home folder.
"""

import itertools
import re
from collections.abc import Iterator

from snell.model.tool_names import name_set
from snell.packs.guard.known_names import names, pattern
from snell.packs.guard.known_values import ARCHIVE, REMOTE, UNKNOWN
from snell.packs.guard.path_classes import ABOVE, HOME, HOME_PART, PROJECT_ROOT, ROOT, SYSTEM, Workspace, classify_path
from snell.packs.guard.reading_programs import git_command
from snell.packs.guard.rule import Finding, Rule, Trigger, given_to, only_asks
from snell.packs.guard.sensitive_files import secret_name
from snell.packs.guard.shell.network_transfers import Sending, foreign_key, is_forge
from snell.packs.guard.shell.shell_state import HERE, Step
from snell.shell.arguments import arguments_of
from snell.shell.remote_effects import remote
from snell.system.lazy_regex import lazy_regex

RULE = Rule(
    name="send-project",
    family="exfiltration",
    instead="push to the project's own remote, or send only the folder that is needed",
)

_ADDRESS = lazy_regex(r"^(?:\w[\w+]*://|(?:[\w.-]+@)?[\w.-]+\.[\w.-]+:(?!\\)|[\w.-]+@[\w.-]+:)")
_LOGIN = lazy_regex(r"://[^/@]+:[^/@]+@")
_CLOUDS = name_set("aws gsutil gcloud rclone mc s3cmd s5cmd azcopy b2")
_STORED = lazy_regex(r"^(?:s3|gs|b2|https?)://|^[\w-]+:(?!\\)")
_SERVERS = names("file_servers")


_PASTERS = name_set("pastebinit wgetpaste dpaste ix 0x0 fiche haste hastebin transfer.sh transfer")
_SOCKETS = name_set("nc ncat netcat socat")
_SENDERS = names("http_clients") | _SOCKETS
_PUBLIC_PAGES = pattern("public_pages")
_PERSONAL = name_set("documents desktop pictures photos mail")
_INTERPRETERS = ("python", "pypy", "php", "ruby")
TRIGGER = Trigger(programs=_CLOUDS | _SERVERS | _SENDERS | _PASTERS | {"git", "ssh"}, prefixes=_INTERPRETERS)


def find(step: Step, workspace: Workspace) -> Iterator[Finding]:
    if step.where != HERE:
        return
    if page := _public_page(step):
        yield RULE.ask(f"it puts data on `{page}`, where others can read it")
    elif step.program == "git":
        yield from _logins(step)
        yield from _push(step)
    elif step.program == "ssh" and step.stdin is not None and step.stdin.detail(ARCHIVE):
        yield RULE.ask(f"it sends all of `{step.stdin.detail(ARCHIVE)}` to another machine")
    elif step.program in _CLOUDS and {"cp", "sync", "copy", "mv", "rsync", "put", "mirror"} & set(step.args):
        yield from _upload(step, workspace)
    elif step.program in _SERVERS or (step.args and step.program.startswith(_INTERPRETERS)):
        yield from _file_server(step, workspace)


def _public_page(step: Step) -> str:
    """Return the page for pastes, or the catcher of requests, that the step sends something to."""
    if step.program in _PASTERS:
        return "" if only_asks(step) else step.program
    page = _PUBLIC_PAGES.search(" ".join(step.args)) if step.program in _SENDERS else None
    if page is None:
        return ""
    takes_input = step.program in _SOCKETS and step.stdin is not None
    return page[0] if takes_input or remote(step.program, given_to(step)) == "sends" else ""


def _logins(step: Step) -> Iterator[Finding]:
    """Judge an address with the key of another service: `git push https://$GITHUB_TOKEN@host`."""
    for word in step.words:
        if "://" in word.text and (key := foreign_key(Sending((word,), host=word.text.rpartition("@")[2]))):
            yield RULE.ask(f"it sends {key.strip('?,')} to `{word.text.rpartition('@')[2]}`")


def _push(step: Step) -> Iterator[Finding]:
    if "push" not in step.args:
        return
    command, words = git_command(step)
    given = arguments_of("", words, "-o --push-option --receive-pack --exec")
    if command != "push" or given.has("-n", "--dry-run"):
        return
    target = next((word for word in step.words if word.has(REMOTE)), None)
    operand = next(iter(given.operands), "")
    address = target.text if target is not None else operand
    if not _ADDRESS.match(address) or UNKNOWN in address:
        return
    if is_forge(address):
        # A copy under another account, perhaps; the first push of a new repository sets the upstream.
        is_copy = given.has("--all", "--mirror") and not given.has("-u", "--set-upstream")
        if is_copy or (target is None and _LOGIN.search(operand)):
            yield RULE.ask(f"it pushes the repository to `{address}`, which is no remote of the project")
    else:
        turned = target is not None and target.detail(REMOTE) == "turned"
        yield (RULE.deny if turned else RULE.ask)(f"it pushes the repository to `{address}`")


def _upload(step: Step, workspace: Workspace) -> Iterator[Finding]:
    operands = [arg for arg in step.args if not arg.startswith("-")]
    while operands and not _STORED.match(operands[-1]):
        operands.pop()  # the value of an option behind the target
    if len(operands) < 3 or any(arg.startswith("--dry") for arg in step.args):
        return
    for name in operands[1:-1]:
        is_folder = not _STORED.match(name) and re.fullmatch(r"\.\.?|\*|.*/.*", name)
        place = classify_path(workspace.absolute(name), workspace) if is_folder else ""
        excludes = any(arg.startswith(("--exclude", "--include", "-x")) for arg in step.args)
        folder = name.rstrip("/").rpartition("/")[2]
        is_home_folder = place == HOME_PART and "." not in folder
        is_certain = place in (ROOT, HOME, ABOVE) or (is_home_folder and folder.lower() in _PERSONAL)
        if is_certain or ((place == PROJECT_ROOT or is_home_folder) and not excludes):
            yield (RULE.deny if is_certain else RULE.ask)(f"it copies {place} to `{operands[-1]}`")


def _file_server(step: Step, workspace: Workspace) -> Iterator[Finding]:
    """Judge a file server that offers more than a project."""
    named = _served_folder(step)
    if named is None:
        return
    path = workspace.absolute(named or ".")
    place = classify_path(path, workspace)
    if place in (ROOT, HOME, ABOVE, SYSTEM) or secret_name(path, workspace.home):
        yield RULE.deny(f"it serves {place} over the network: `{path}`")


def _served_folder(step: Step) -> str | None:
    program, args = step.program, step.args
    is_module = program.startswith(("python", "pypy")) and args[:2] in _SERVING_MODULES
    needed = _NEEDED_WORDS.get(program)
    if not (is_module or (program in _SERVERS if needed is None else not needed.isdisjoint(args))):
        return None
    given = dict(itertools.pairwise(args))
    options = next((given[name] for name in ("--directory", "-d", "--root", "-t", "-h", "--path") if name in given), "")
    attached = next((arg.partition("=")[2] for arg in args if re.match(r"--(?:directory|root|path)=", arg)), "")
    folders = [arg for arg in args if "/" in arg and not arg.startswith("-") and "://" not in arg]
    return options or attached or ("" if is_module else next(iter(folders), ""))


_SERVING_MODULES = (("-m", "http.server"), ("-m", "SimpleHTTPServer"))
# Programs that serve a folder only with one of these words.
_NEEDED_WORDS = {
    "caddy": frozenset(("file-server",)),
    "php": frozenset(("-S",)),
    "ruby": frozenset(("httpd",)),
    "twistd": frozenset(("web",)),
}
