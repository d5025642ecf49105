"""
Stop commands that read or copy files which hold secrets.

This covers private keys, credentials of clouds and registries, `.env` files, keychains and browser profiles: what a
command prints goes to the model and into the records. Listing such files, checking that they exist, and
reading templates (`.env.example`) is fine.
"""

import itertools
import re
from collections.abc import Iterable, Iterator

from snell.model.tool_names import name_set
from snell.packs.guard.known_names import names, pattern
from snell.packs.guard.known_values import ENVIRONMENT, PRIVATE, SECRET
from snell.packs.guard.path_classes import ABOVE, HOME, ROOT, SYSTEM, TEMP, Workspace, classify_path
from snell.packs.guard.reading_programs import git_command
from snell.packs.guard.rule import NAMES, READS, WRITES, Finding, Rule, Trigger
from snell.packs.guard.sensitive_files import is_snell_file, secret_name
from snell.packs.guard.shell.shell_state import HERE, HOST, Step
from snell.shell.arguments import arguments_of
from snell.system.lazy_regex import lazy_regex

RULE = Rule(
    name="read-secret",
    family="secrets",
    instead="ask the user for the value that is needed, or read a template such as `.env.example`",
)

_READERS = names("file_readers")
_PATTERN_FIRST = frozenset(("grep", "egrep", "fgrep", "rg", "ag", "ack", "sed", "awk", "gawk", "mawk", "jq", "yq"))
_WRITERS = names("programs_that_make_secrets")
_REMOVERS = frozenset(("rm", "shred", "truncate", "unlink"))
_SOFT = frozenset(("source", ".", "cp", "mv", "ln", "install", "dotenv", "vim", "vi", "nano", "code"))
_SHOWS = _READERS - _SOFT - {"wc", "file", "du", "sum", "tee", "rsync", "scp"}
_PRINTERS = frozenset(("echo", "printf", "printenv"))
_SEARCHERS = frozenset(("grep", "egrep", "fgrep", "rg", "ag", "ack", "ugrep", "zgrep"))
_PUBLIC_ONLY = lazy_regex(r"^(?:-y|-l|-lf|-e)$")

TRIGGER = Trigger(
    programs=_SEARCHERS
    | name_set("git ssh-keygen docker podman nerdctl curl rm shred truncate unlink echo printf printenv find"),
    traits=READS | WRITES,
    some=_READERS,
    when=NAMES,
)


def find(step: Step, workspace: Workspace) -> Iterator[Finding]:
    if step.where != HERE:
        yield from _outside_this_machine(step, workspace)
        return
    for path in (*_paths(step, workspace), *step.reads):
        secret = secret_name(path, workspace.home)
        if secret:
            verdict = RULE.ask if step.program in _SOFT and re.search(r"\.env|secrets?\.", secret) else RULE.deny
            yield verdict(f"`{secret}` holds secrets", secret)
        elif _is_state_of_snell(path, workspace):
            yield RULE.ask(f"`{path}` holds Snell's approvals, records or keys", path)
    if (step.writes or step.program in _REMOVERS) and step.program not in _WRITERS:
        yield from _replaced_secrets(step, workspace)
    if (step.touched or step.program in _PRINTERS) and not (step.writes or step.appends or step.piped):
        yield from _printed_secrets(step)
    if step.program in _SEARCHERS or step.sweeps:
        yield from _secret_search(step, workspace)


_STATE = pattern("state_of_snell")
_SETTINGS = lazy_regex(r"/\.snell(?!/state(?:/|$))|/\.?config(?:/|$)|^/etc/")


def _is_state_of_snell(path: str, workspace: Workspace) -> bool:
    """Tell whether this is a private file of Snell's state, or the folder or a pattern that includes them."""
    is_snells = is_snell_file(path) or workspace.snell_paths.holds(path)
    return is_snells and not _SETTINGS.search(path) and _STATE.search(path) is not None


def _outside_this_machine(step: Step, workspace: Workspace) -> Iterator[Finding]:
    """Judge a step in a container or on another machine, whose output is printed here."""
    found = [
        secret for path in (*_paths(step, workspace), *step.reads) if (secret := secret_name(path, workspace.home))
    ]
    if found and step.program not in _SOFT:
        if step.where == HOST:
            yield RULE.deny(f"`{found[0]}` holds secrets of the other machine", found[0])
        else:
            yield RULE.ask(f"`{found[0]}` holds secrets of the container", found[0])


def _paths(step: Step, workspace: Workspace) -> Iterable[str]:
    """Return the files that the arguments of a program make it read."""
    if step.program in _SPECIAL:
        return _SPECIAL[step.program](step, workspace)
    if step.program not in _READERS or step.program == "tee":
        return ()
    args = _file_arguments(step)
    return [workspace.absolute(arg) for arg in args if arg and (":" not in arg or arg.startswith(("/", "~")))]


def _file_arguments(step: Step) -> list[str]:
    program, args = step.program, [arg for arg in step.args if not arg.startswith("-")]
    pairs = list(itertools.pairwise(step.args)) if len(args) < len(step.args) else []
    if program in ("wc", "file", "du", "sum"):
        args = _after(pairs, _NAMES_LIST)
    if "=" in "".join(step.args):
        args += [arg.partition("=")[2] for arg in step.args if _ASSIGNED.match(arg)]
    named = _after(pairs, _NAMES_FILE) if pairs else []
    made = _after(pairs, _MADE) if program == "openssl" else []
    if named or made:
        args = [arg for arg in args if arg not in named and arg not in made]
    if program in _PATTERN_FIRST and not {"-e", "-f", "--regexp"} & set(step.args):
        args = args[1:]
    if program in _LANGUAGES:  # what their code reads is followed, and its text is no path
        args = [arg for arg in args if not _CODE.search(arg)]
    args += named
    return args[:-1] if program in ("cp", "mv", "ln", "install", "rsync", "scp") and len(args) > 1 else args


_ASSIGNED = lazy_regex(r"(?:--(?!env-file)\w[\w-]*|if)=")
_LANGUAGES, _CODE = name_set("python python3 node ruby perl php lua tclsh rscript"), lazy_regex(r"[(){};'\"\n]")
_NAMES_FILE, _NAMES_LIST = lazy_regex(r"--[\w-]*(?:from|file)|-f"), lazy_regex(r"-f|--files-from")
_MADE = lazy_regex("-out|-keyout")


def _after(pairs: list[tuple[str, str]], options: re.Pattern[str]) -> list[str]:
    return [after for arg, after in pairs if arg[:1] == "-" and options.fullmatch(arg)]


def _in_git(step: Step, _workspace: Workspace) -> Iterator[str]:
    command, words = git_command(step)
    if command in ("show", "cat-file", "blame"):
        yield from (word.partition(":")[2] for word in words if ":" in word)
    if command == "hash-object" or (command in ("diff", "log") and ("-p" in words or "--no-index" in words)):
        yield from (word for word in words if not word.startswith("-"))
    if command == "add" and "-n" not in words and "--dry-run" not in words:
        yield from (word for word in words if re.search(r"(?:^|/)(?:\.env(?:\.\w+)?|id_\w+|.*\.pem|.*\.p12)$", word))


def _mounted_paths(step: Step, workspace: Workspace) -> Iterator[str]:
    """Return what `docker cp` copies, and mounted folders of keys."""
    if step.args[:1] == ("cp",):
        yield from (workspace.absolute(arg) for arg in step.args[1:-1] if not arg.startswith("-"))
    for before, arg in itertools.pairwise(step.args):
        if before in ("-v", "--volume") and re.search(r"/\.(?:ssh|gnupg|aws|kube)(?:/|:|$)", arg):
            yield workspace.absolute(arg.partition(":")[0])


def _key(step: Step, workspace: Workspace) -> Iterator[str]:
    if any(_PUBLIC_ONLY.match(arg) for arg in step.args) or "-t" in step.args:
        return
    for before, arg in zip(step.args, step.args[1:], strict=False):
        if before == "-f":
            yield workspace.absolute(arg)


def _from_url(step: Step, _workspace: Workspace) -> Iterator[str]:
    yield from (arg[7:] for arg in step.args if arg.startswith("file://"))


_ENGINES = dict.fromkeys(("docker", "podman", "nerdctl"), _mounted_paths)
_SPECIAL = {"git": _in_git, "ssh-keygen": _key, "curl": _from_url, **_ENGINES}


def _replaced_secrets(step: Step, workspace: Workspace) -> Iterator[Finding]:
    """Judge emptying and deleting secrets; programs that create them are fine."""
    targets = [
        path
        for path in step.writes
        if "/dev/null" in step.args
        or not (step.program in ("cp", "install", "touch", "tee", "sed", "curl") and ".env" in path)
    ]
    if step.program in _REMOVERS:
        targets += [workspace.absolute(arg) for arg in step.args if not arg.startswith("-")]
    for path in targets:
        secret = secret_name(path, workspace.home)
        is_rewritten = path.endswith("/.envrc") and bool(step.output.text or step.stdin)  # judged by what it runs
        if secret and classify_path(path, workspace) != TEMP and not is_rewritten:
            soft = re.search(r"\.env", secret)
            yield (RULE.ask if soft else RULE.deny)(f"it replaces or deletes `{secret}`, which holds secrets", secret)


def _printed_secrets(step: Step) -> Iterator[Finding]:
    """Judge `echo $API_KEY`, `printenv TOKEN`, and printing a file that was made from a secret one."""
    if step.program in ("echo", "printf") and any(word.has(SECRET) for word in step.words[1:]):
        detail = next(word.detail(SECRET) for word in step.words[1:] if word.has(SECRET))
        yield RULE.ask(f"it prints a secret: `{detail}`", detail)
    elif step.program == "printenv" and step.output.has(ENVIRONMENT):
        name = step.output.detail(ENVIRONMENT)
        if pattern("secret_variable").search(name):
            yield RULE.ask(f"it prints a secret: `{name}`", name)
    labels = sorted(step.touched) if step.program in _SHOWS else ()
    made = next((label.partition(" ")[2] for label in labels if label.startswith(f"{SECRET} ")), "")
    if made:
        yield RULE.ask(f"it prints a copy of `{made}`, which holds secrets", made)


_SECRET_PATTERN = pattern("searches_for_secrets")
_NAMED = ("-name", "-iname")
_HISTORY_FILE = lazy_regex(r"/\.\w+_history$")


def _secret_search(step: Step, workspace: Workspace) -> Iterator[Finding]:
    """Judge a search for secrets in a home folder, on the disk, or in the history of commands."""
    if step.program == "find" and any(_is_wide(root, workspace) for root in step.sweeps):
        pairs = itertools.pairwise(step.args)
        if any(option in _NAMED and secret_name(name) and not name.startswith("*") for option, name in pairs):
            yield RULE.ask("it searches the disk or home folder for secrets")
    if step.program not in _SEARCHERS:
        return
    if not any(map(_SECRET_PATTERN.search, step.args)):
        return
    given = arguments_of(step.program, step.args, "-e -f -m -A -B -C --include --exclude -g -t")
    everywhere = step.program in ("rg", "ag", "ack") or given.has("-r", "-R", "--recursive", "-d")
    paths = [workspace.absolute(name) for name in given.operands[1:] or given.operands]
    read = step.stdin.detail(PRIVATE) if step.stdin is not None else ""
    if read == "history" or any(_HISTORY_FILE.search(path) for path in (*paths, read)):
        yield RULE.ask("it searches the command history for secrets")
    elif everywhere and any(_is_wide(path, workspace) for path in paths):
        yield RULE.ask("it searches the disk or home folder for secrets")


def _is_wide(path: str, workspace: Workspace) -> bool:
    place = classify_path(path, workspace)
    return place in (ROOT, HOME, ABOVE) or (place == SYSTEM and path.rstrip("/").count("/") == 1)
