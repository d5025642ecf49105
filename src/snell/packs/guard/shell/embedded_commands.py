"""Programs with a language or an option of their own in which a shell command can be written."""

import itertools
import re
import shlex
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

from msgspec.structs import replace

from snell.model.tool_names import name_set
from snell.packs.guard.known_names import names, pattern
from snell.packs.guard.known_values import DECODED, EMPTY, NETWORK, REMOTE, SECRET, UNKNOWN, Value
from snell.packs.guard.shell import program_code
from snell.packs.guard.shell.build_recipes import recipe_line_as_shell
from snell.packs.guard.shell.network_transfers import CLONE, is_forge
from snell.packs.guard.shell.shell_state import Call, Performer, ShellState, Walk, program_of
from snell.shell.programs import Program
from snell.system.lazy_regex import lazy_regex

# Variables that name the program which another one starts.
FOLLOWERS: list[Callable[[Walk, Call, ShellState, str, str], None]] = []  # of code in variables
_PROGRAM_VARIABLES = names("variables_that_name_programs")

_compile = lru_cache(maxsize=256)(lambda pattern: re.compile(pattern, re.DOTALL))


def look_inside(walk: Walk, call: Call, scene: ShellState, row: Program) -> None:
    """Walk through the commands that are written in the words or in the input of another program."""
    for name, value in call.env:
        for follow in FOLLOWERS:
            follow(walk, call, scene, name, value)
        if (name in _PROGRAM_VARIABLES or name.startswith("GIT_CONFIG_VALUE_")) and " " in value:
            walk.line(value.removeprefix("!"), scene.fork())
    if call.stdin is not None and row.stdin_code:
        for found in re.finditer(row.stdin_code, call.stdin.text, re.MULTILINE):
            walk.line(recipe_line_as_shell(found[1]), scene.fork())
    if len(call.words) > 1 and (row.shell_code or row.language_code):
        _look_in_words(walk, call, scene, row)


def evaluate_texts(walk: Walk, texts: Iterable[Value], scene: ShellState) -> None:
    """Walk through commands in the index of an array: a shell that computes with such a text runs them."""
    for text in texts:
        if "[$(" in text.text or "[`" in text.text:
            walk.line(f': "{text.text}"', scene.fork())


def _evaluate_names(walk: Walk, call: Call, scene: ShellState) -> None:
    evaluate_texts(walk, call.words[1:], scene)


_TAKES_NAMES = name_set("test [ [[ let printf read unset declare typeset local export readonly wait mapfile expr")
EVALUATORS: dict[str, Performer] = dict.fromkeys(_TAKES_NAMES, _evaluate_names)


def _look_in_words(walk: Walk, call: Call, scene: ShellState, row: Program) -> None:
    text = "\x1f".join([word.text for word in call.words[1:]])
    if row.language_code:
        language, pattern = row.language_code
        for found in _compile(pattern).finditer(text):
            program_code.follow(walk, call, scene, language, found[1])
    stdin = call.stdin
    if stdin is None and program_of(call.words[0].text).endswith("tar"):
        stdin = Value(UNKNOWN, frozenset((DECODED,)))  # the files of the archive
    for found in _compile(row.shell_code).finditer(text) if row.shell_code else ():
        code = " ".join(_code_in(group) for group in found.groups() if group)
        walk.line(code, scene.fork(), stdin)


def _code_in(words: str) -> str:
    """Return the shell line that one word is, or that several words make."""
    first, *rest = words.replace("\\ ", " ").split("\x1f")
    return (
        " ".join(shlex.quote(word) if " " in word else word for word in (first, *rest)) if rest else first.strip("'\"")
    )


_MAY_RUN = lazy_regex(r"alias\.|ext::|-x|--exec")
_GIT_RUNS = pattern("git_settings_that_run")
_GIT_VARIABLES = name_set(
    "GIT_SSH_COMMAND GIT_PAGER GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_EXTERNAL_DIFF GIT_ASKPASS GIT_PROXY_COMMAND GIT_SSH"
    " SSH_ASKPASS"
)


def _git(walk: Walk, call: Call, scene: ShellState) -> Value | None:
    args = [word.text for word in call.words[1:]]
    text = "\0".join(args)
    for code in _git_code(call, args) if call.env or _MAY_RUN.search(text) else ():
        walk.line(code, scene.fork())
    for lead, follower in (("bisect", "run"), ("submodule", "foreach")):
        if lead in args and follower in args:
            rest = [word for word in call.words[args.index(follower) + 2 :] if word.text != "--recursive"]
            walk.call(
                replace(call, words=tuple(rest)) if len(rest) != 1 else call.with_words("eval", *rest), scene.fork()
            )
    _walk_settings(walk, call, scene, args if "=" in text or "config" in args else [])
    if "remote" in args or "config" in args:
        _note_remote(args, scene)
    _follow_files_and_aliases(walk, call, scene, args)
    if "clone" in args:
        _note_clone(args[args.index("clone") + 1 :], scene)
    if "push" in args:
        _push_there(walk, call, scene, args)
    if "\0ext::" in f"\0{text}":
        walk.record(call, scene, EMPTY, code=Value(UNKNOWN, frozenset((f"{NETWORK} a command for an address",))))
    return None


_TAKES_TEXT = frozenset(("commit", "tag", "notes", "merge", "hash-object"))
_TEXTS_AND_SETTINGS = _TAKES_TEXT | {"config"}


def _follow_files_and_aliases(walk: Walk, call: Call, scene: ShellState, args: list[str]) -> None:
    """Follow files that git takes as text, and commands in aliases that the line sets."""
    if not scene.files and _TEXTS_AND_SETTINGS.isdisjoint(args[:3]):
        return
    verb = next((arg for arg in args if not arg.startswith("-")), "")
    if verb in _TAKES_TEXT:
        texts = [after for option, after in itertools.pairwise(args) if option in ("-F", "--file", "-w")]
        texts += [arg.partition("=")[2] for arg in args if arg.startswith("--file=")]
        for path in texts:
            walk.call(call.with_words("cat", path), scene.fork())
    for name, value in itertools.pairwise(args) if verb == "config" else ():
        if name.startswith("alias.") and not value.startswith("!"):
            scene.write(f".git/alias/{name[6:]}", Value(value))
    if verb and (alias := scene.files.get(scene.absolute(f".git/alias/{verb}"))) is not None:
        walk.line(" ".join(("git", alias.text, *args[args.index(verb) + 1 :])), scene.fork())


def _git_code(call: Call, args: list[str]) -> Iterator[str]:
    """Yield commands in git's words: aliases of `-c`, `rebase -x`, `filter-branch`, variables and addresses."""
    for number, arg in enumerate(args):
        name, _, given = arg.removeprefix("alias.").partition("=") if arg.startswith("alias.") else ("", "", "")
        if name and name in args:
            code = given[1:] if given.startswith("!") else f"git {given}"
            yield " ".join((code, *args[args.index(name) + 1 :]))
        elif arg.startswith("ext::"):
            yield re.sub(r"%([% ])", r"\1", arg[5:])
        elif arg in ("-x", "--exec") and {"rebase", "filter-branch"} & set(args):
            yield from args[number + 1 : number + 2]
    yield from (value for name, value in call.env if name in _GIT_VARIABLES and " " in value)


_KEPT_COMMAND = lazy_regex(r"(?m)=\s*\"?!(.+?)\"?$")


def _walk_settings(walk: Walk, call: Call, scene: ShellState, args: list[str]) -> None:
    """Walk through commands in settings, which `-c` gives or `git config` keeps."""
    for arg in args:
        name, _, code = arg.partition("=")
        if " " in code and _GIT_RUNS.fullmatch(name):
            walk.line(code, scene.fork())
            walk.record(call.with_words("git", "config", "core.sshCommand", code), scene, EMPTY)
        elif name == "include.path" and (content := scene.content(code)) is not None:
            for kept in _KEPT_COMMAND.findall(content.text):
                walk.line(kept, scene.fork())
    for name, value in itertools.pairwise(args) if "config" in args else ():
        if value.startswith("!") and re.match(r"alias\.|credential\.", name):
            secret = Value(UNKNOWN, frozenset((f"{SECRET} git's credentials",)))
            walk.line(value[1:], scene.fork(), secret if name.startswith("credential.") else None)
        elif " " in value and _GIT_RUNS.fullmatch(name):
            walk.line(value, scene.fork())


def _note_remote(args: list[str], scene: ShellState) -> None:
    """Note the address that a remote gets, in a file where git itself once kept it."""
    words = [arg for arg in args if not arg.startswith("-")]
    setting = re.fullmatch(r"remote\.([\w.-]+)\.(?:push)?url", words[-2]) if len(words) > 2 else None
    if "remote" in words and {"add", "set-url"} & set(words) and len(words) > 3:
        name, how = words[-2], "turned" if "set-url" in words else "added"
    elif "config" in words and setting:
        name, how = setting[1], "turned"
    else:
        return
    scene.write(f".git/remotes/{name}", Value(words[-1], frozenset((f"{REMOTE} {how}",))))


def _note_clone(args: list[str], scene: ShellState) -> None:
    """Mark a clone from an unknown host, or the install scripts of any clone, as content from the network."""
    words = [arg for arg in args if not arg.startswith("-")]
    address = next((word for word in words if re.match(r"\w+://|[\w.-]+@[\w.-]+:", word)), "")
    if not address:
        return
    folder = words[-1] if words[-1] != address else re.split(r"[/:]", address.removesuffix(".git").rstrip("/"))[-1]
    # Of a forge, where projects are, only what installs itself counts; building and testing are what clones are for.
    for name in _INSTALLERS if is_forge(address) else (UNKNOWN,):
        scene.write(f"{folder}/{name}", Value(UNKNOWN, frozenset((f"{NETWORK} {CLONE}{address}",))))


_INSTALLERS = tuple(
    f"{folder}{name}{ending}"
    for folder in ("", "scripts/", "bin/", "tools/")
    for name in ("install", "setup", "bootstrap", "init", "get")
    for ending in (".sh", ".bash", ".py", "")
)


def _push_there(walk: Walk, call: Call, scene: ShellState, args: list[str]) -> None:
    given = args[args.index("push") + 1 :]
    words, options = ([arg for arg in given if arg.startswith("-") == is_option] for is_option in (False, True))
    address = scene.content(f".git/remotes/{words[0] if words else 'origin'}")
    if address is not None and address.has(REMOTE):
        walk.record(call.with_words("git", "push", address, *options), scene, EMPTY)


def _database(walk: Walk, call: Call, scene: ShellState) -> Value | None:
    """Follow the file of `psql -f FILE`, if the line or the session wrote it, as what the client is told."""
    args = [word.text for word in call.words[1:]]
    named = [after for arg, after in itertools.pairwise(args) if arg in _SCRIPT_OPTIONS]
    named += [arg.partition("=")[2] for arg in args if arg.startswith("--file=")] + [
        arg.lstrip("@") for arg in args[-1:]
    ]
    for path in named if scene.files else ():
        content = scene.content(path)
        if content is not None and content.text.strip(UNKNOWN):
            told = ("-K", "-") if program_of(call.words[0].text) == "curl" else ()
            walk.record(replace(call.with_words(*call.words, *told), stdin=content), scene, EMPTY)
    return None


_SCRIPT_OPTIONS = frozenset(("-f", "--file", "-i", "--init-file", "-b", "-K", "--config"))

_CLIENTS = name_set("psql mysql mariadb sqlite3 sqlcmd mongosh mongo sqlplus cqlsh sftp lftp curl")
PERFORMERS: dict[str, Performer] = {"git": _git, **dict.fromkeys(_CLIENTS, _database)}
