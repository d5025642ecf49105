"""Programs with a language or an option of their own in which a shell command can be written."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

from msgspec.structs import replace

from snell.packs.guard.known_values import EMPTY, NETWORK, REMOTE, SECRET, UNKNOWN, Value
from snell.packs.guard.shell import program_code
from snell.packs.guard.shell.build_recipes import of_make
from snell.packs.guard.shell.network_transfers import CLONE, is_forge
from snell.packs.guard.shell.shell_state import Performer, ShellState, program_of
from snell.system.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from snell.packs.guard.shell.walk import Call, Walk

# The code is the group; `\x1f` stands between two words.
_CODE = {
    "tar": (
        r"(?:^|\x1f)(?:-\w*I\x1f|--use-compress-program[=\x1f]|--to-command[=\x1f]|"
        r"--checkpoint-action=exec=|--info-script[=\x1f]|-F\x1f)([^\x1f]+)"
    ),
    "rsync": r"(?:^|\x1f)(?:-e\x1f|--rsh[=\x1f]|--rsync-path[=\x1f])([^\x1f]+)",
    "ssh": r"(?:ProxyCommand|LocalCommand|KnownHostsCommand|exec)[= ]\"?([^\x1f]+)",
    "vim": r"(?:^|\x1f)(?:-c\x1f|--cmd\x1f|\+):?!?(?:silent )?!([^\x1f]+)",
    "split": r"--filter[=\x1f]([^\x1f]+)",
    "sort": r"--compress-program[=\x1f]([^\x1f]+)",
    "zip": r"(?:-TT\x1f|--unzip-command[=\x1f])([^\x1f]+)",
    "sed": r"(?:^|\x1f|;)(?:\d*|/[^/]*/)e ([^\x1f]+)",
    "gdb": r"(?:-ex\x1f)(?:shell|!) ?([^\x1f]+)",
    "sqlite3": r"\.(?:shell|system) ([^\x1f]+)",
    "psql": r"\\! ?([^\x1f]+)",
    "xterm": r"(?:^|\x1f)-e\x1f(.+)",
    "man": r"(?:-P\x1f|--pager[=\x1f])([^\x1f]+)",
    "nix-shell": r"--run\x1f([^\x1f]+)",
    "nix": r"(?:-c|--command)\x1f(.+)",
    "vagrant": r"ssh\x1f(?:.*\x1f)?-c\x1f([^\x1f]+)",
    "adb": r"shell\x1f(.+)",
    "wsl": r"^(?:-e\x1f|--\x1f|-d\x1f[^\x1f]+\x1f)*([^-].+)",
    "gcloud": r"--command[=\x1f]([^\x1f]+)",
    "expect": r"spawn ([^;\x1f]+)",
    "tclsh": r"exec ([^;\x1f]+)",
    "julia": r"run\(`([^`]+)`",
    "ansible": r"(?:-a\x1f)([^\x1f]+)",
    "npm": (
        r"(?:exec\x1f(?:.*\x1f)?(?:-c|--call)\x1f|pkg\x1fset\x1f(?:[^\x1f]*\x1f)*?scripts\.[^\x1f=]+=|"
        r"set-script\x1f[^\x1f]+\x1f)([^\x1f]+)"
    ),
    "git-rebase": r"(?:-x|--exec)[=\x1f]([^\x1f]+)",
    "socat": r"(?:EXEC|SYSTEM|exec|system):([^\x1f]+)",
    "nodemon": r"--exec\x1f([^\x1f]+)",
    "make": r"(?:SHELL=|--eval[=\x1f][^\x1f:]*:[^\x1f;\n]*[;\n]\t?)([^\x1f]+)",
    "emacs": r"shell-command[\w-]* \\?\"([^\"]+)\"",
    "npx": r"(?:^|\x1f)(?:-c|--call)\x1f([^\x1f]+)",
    "yarn": r"^(?:exec|run)\x1f(.+)",
    "less": r"(?:^|\x1f)\+!([^\x1f]+)",
    "git": r"(?:^|\x1f)(?:--extcmd[=\x1f]|--open-files-in-pager=|-O(?=\S* )|difftool\x1f(?:.*\x1f)?-x\x1f)([^\x1f]+)",
    "rg": r"--pre[=\x1f]([^\x1f]+)",
    "tcpdump": r"-z\x1f([^\x1f]+)",
}
_CODE["scp"] = _CODE["sftp"] = _CODE["ssh-keyscan"] = _CODE["autossh"] = _CODE["mosh"] = _CODE["ssh"]
_CODE["ncat"] = _CODE["nc"] = _CODE["netcat"] = r"(?:^|\x1f)(?:-\w*c\x1f|-\w*e\x1f|--(?:sh-)?exec[=\x1f])([^\x1f]+)"
_CODE["gvim"] = _CODE["vi"] = _CODE["nvim"] = _CODE["ex"] = _CODE["vim"]
_PATTERNS = {name: lazy_regex(pattern, re.DOTALL) for name, pattern in _CODE.items()}
# Variables that name the program which another one starts.
_PROGRAM_VARIABLES = frozenset(("PAGER", "MANPAGER", "EDITOR", "VISUAL", "BROWSER", "LESSOPEN", "SUDO_ASKPASS"))
# Programs whose input has commands in it.
_FED = {
    "ed": lazy_regex(r"^!(.+)", re.MULTILINE),
    "ex": lazy_regex(r"^:?!(.+)", re.MULTILINE),
    "make": lazy_regex(r"^\t[@-]?(.+)", re.MULTILINE),
    "tclsh": lazy_regex(r"\bexec (.+)", re.MULTILINE),
    "gdb": lazy_regex(r"^(?:shell |!)(.+)", re.MULTILINE),
    "psql": lazy_regex(r"^\\! ?(.+)", re.MULTILINE),
    "sqlite3": lazy_regex(r"^\.(?:shell|system) (.+)", re.MULTILINE),
    "mysql": lazy_regex(r"^(?:\\!|system) (.+)", re.MULTILINE),
}
_SHELL_WORDS = frozenset(("adb", "wsl", "xterm", "nix"))


# Programs that are given code of a language in their words: the language, and where it stands.
_LANGUAGE_CODE = {
    "emacs": ("lisp", r"(?:^|\x1f)--?(?:eval|execute)[=\x1f]([^\x1f]+)"),
    "vim": ("vim", r"(?:^|\x1f)(?:-c\x1f|--cmd\x1f|\+):?([^\x1f]+)"),
    "rails": ("ruby", r"^(?:runner|r)\x1f(?:-\S+\x1f)*([^\x1f]+)"),
    "python": ("python", r"manage\.py\x1fshell(?:_plus)?\x1f(?:.*\x1f)?(?:-c|--command)[=\x1f]([^\x1f]+)"),
    "manage.py": ("python", r"^shell(?:_plus)?\x1f(?:.*\x1f)?(?:-c|--command)[=\x1f]([^\x1f]+)"),
    "php": ("php", r"artisan\x1ftinker\x1f(?:.*\x1f)?--execute[=\x1f]([^\x1f]+)"),
    "mix": ("ruby", r"^run\x1f(?:.*\x1f)?(?:-e|--eval)\x1f([^\x1f]+)"),
    "ipython": ("python", r"(?:^|\x1f)-c\x1f([^\x1f]+)"),
    "bb": ("node", r"(?:^|\x1f)-e\x1f([^\x1f]+)"),
}
_LANGUAGE_CODE["python3"] = _LANGUAGE_CODE["python"]
_LANGUAGE_CODE["django-admin"] = _LANGUAGE_CODE["manage.py"]
_LANGUAGE_CODE["nvim"] = _LANGUAGE_CODE["vi"] = _LANGUAGE_CODE["ex"] = _LANGUAGE_CODE["vim"]
_LANGUAGE_PATTERNS = {
    name: (language, lazy_regex(text, re.DOTALL)) for name, (language, text) in _LANGUAGE_CODE.items()
}


def _look_for_code(walk: Walk, call: Call, scene: ShellState, program: str, text: str) -> None:
    language, pattern = _LANGUAGE_PATTERNS[program]
    for found in pattern.finditer(text):
        program_code.follow(walk, call, scene, language, found[1])


def look_inside(walk: Walk, call: Call, scene: ShellState) -> None:
    """Walk through the commands that are written in the words of another program."""
    program = program_of(call.words[0].text)
    for name, value in call.env:
        if name in _PROGRAM_VARIABLES and " " in value:
            walk.line(value, scene.fork())
    if call.stdin is not None and program in _FED:
        for found in _FED[program].finditer(call.stdin.text):
            walk.line(of_make(found[1]) if program == "make" else found[1], scene.fork())
    pattern = _PATTERNS.get(program)
    if len(call.words) < 2 or (pattern is None and program not in _LANGUAGE_PATTERNS):
        return
    text = "\x1f".join(word.text for word in call.words[1:])
    if program in _LANGUAGE_PATTERNS:
        _look_for_code(walk, call, scene, program, text)
    if pattern is None:
        return
    for found in pattern.finditer(text):
        code = found[1].replace("\x1f", " ").strip("'\"")
        walk.line(code.replace("\\ ", " ") if program == "socat" else code, scene.fork(), call.stdin)


_GIT_RUNS = lazy_regex(
    r"core\.(?:editor|pager|sshcommand|fsmonitor|askpass)|sequence\.editor|diff\.external|gpg\.program|"
    r"(?:diff|merge|filter)\..+\.(?:textconv|command|driver|clean|smudge|process)|(?:diff|merge)tool\..+\.cmd",
    re.IGNORECASE,
)


_GIT_VARIABLES = frozenset(
    (
        *("GIT_SSH_COMMAND", "GIT_PAGER", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_EXTERNAL_DIFF", "GIT_ASKPASS"),
        *("GIT_PROXY_COMMAND", "GIT_SSH", "SSH_ASKPASS"),
    )
)


def _git(walk: Walk, call: Call, scene: ShellState) -> Value | None:
    """Aliases given by `-c`, commands given to `rebase -x`, `bisect run`, `submodule foreach`, `filter-branch`."""
    args = [word.text for word in call.words[1:]]
    aliases = {match[1]: match[2] for arg in args if (match := re.fullmatch(r"alias\.([\w-]+)=(.*)", arg, re.DOTALL))}
    for name, meaning in aliases.items():
        if name in args:
            rest = " ".join(args[args.index(name) + 1 :])
            code = meaning[1:] if meaning.startswith("!") else f"git {meaning}"
            walk.line(f"{code} {rest}", scene.fork())
    for arg in args:
        setting = re.fullmatch(r"core\.(?:pager|sshCommand|editor|fsmonitor)=(.*)", arg, re.DOTALL)
        if setting and " " in setting[1]:
            walk.line(setting[1], scene.fork())
            walk.record(call.with_words("git", "config", "core.sshCommand", setting[1]), scene, EMPTY)
    for name, value in itertools.pairwise(args) if "config" in args else ():
        if value.startswith("!") and re.match(r"alias\.|credential\.", name):
            secret = Value(UNKNOWN, frozenset((f"{SECRET} git's credentials",)))
            walk.line(value[1:], scene.fork(), secret if name.startswith("credential.") else None)
        elif " " in value and _GIT_RUNS.fullmatch(name):
            walk.line(value, scene.fork())
    if "rebase" in args or "filter-branch" in args:
        for option, code in itertools.pairwise(args):
            if option in ("-x", "--exec"):
                walk.line(code, scene.fork())
    for lead, follower in (("bisect", "run"), ("submodule", "foreach")):
        if lead in args and follower in args:
            rest_words = call.words[args.index(follower) + 2 :]
            if len(rest_words) == 1:
                walk.line(rest_words[0].text, scene.fork())
            elif rest_words:
                walk.call(
                    replace(call, words=tuple(word for word in rest_words if word.text != "--recursive")), scene.fork()
                )
    _note_remote(args, scene)
    if "clone" in args:
        _note_clone(args[args.index("clone") + 1 :], scene)
    if "push" in args:
        _push_there(walk, call, scene, args)
    for name, value in call.env:
        if name in _GIT_VARIABLES and " " in value:
            walk.line(value, scene.fork())
    for arg in args:
        if arg.startswith("ext::"):  # an address that is a command
            walk.line(re.sub(r"%([% ])", r"\1", arg[5:]), scene.fork())
            walk.record(call, scene, EMPTY, code=Value(UNKNOWN, frozenset((f"{NETWORK} a command for an address",))))
    return None


def _note_remote(args: list[str], scene: ShellState) -> None:
    """An address that a remote gets, kept where git itself once kept them."""
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
    """Mark a clone from an unknown host as content from the network."""
    words = [arg for arg in args if not arg.startswith("-")]
    address = next((word for word in words if re.match(r"\w+://|[\w.-]+@[\w.-]+:", word)), "")
    if not address or is_forge(address):
        return
    folder = words[-1] if words[-1] != address else re.split(r"[/:]", address.removesuffix(".git").rstrip("/"))[-1]
    scene.write(f"{folder}/{UNKNOWN}", Value(UNKNOWN, frozenset((f"{NETWORK} {CLONE}{address}",))))


def _push_there(walk: Walk, call: Call, scene: ShellState, args: list[str]) -> None:
    words = [arg for arg in args[args.index("push") + 1 :] if not arg.startswith("-")]
    address = scene.content(f".git/remotes/{words[0] if words else 'origin'}")
    if address is not None and address.has(REMOTE):
        walk.record(call.with_words("git", "push", address), scene, EMPTY)


def _database(walk: Walk, call: Call, scene: ShellState) -> Value | None:
    """`psql -f FILE`, where the line or the session wrote the file: it says what `psql` is told."""
    args = [word.text for word in call.words[1:]]
    named = [after for arg, after in itertools.pairwise(args) if arg in ("-f", "--file", "-i", "--init-file")]
    named += [arg.partition("=")[2] for arg in args if arg.startswith("--file=")] + [
        arg.lstrip("@") for arg in args[-1:]
    ]
    for path in named if scene.files else ():
        content = scene.content(path)
        if content is not None and content.text.strip(UNKNOWN):
            walk.record(replace(call, stdin=content), scene, EMPTY)
    return None


PERFORMERS: dict[str, Performer] = {
    "git": _git,
    **dict.fromkeys(
        ("psql", "mysql", "mariadb", "sqlite3", "sqlcmd", "mongosh", "mongo", "sqlplus", "cqlsh"), _database
    ),
}
