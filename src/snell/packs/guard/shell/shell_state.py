"""Where a command line runs: folders, variables, functions, and the files that it has written so far."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from operator import attrgetter
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from snell.packs.guard.file_lookups import absolute_path, note_unread, read_script
from snell.packs.guard.known_names import pattern
from snell.packs.guard.known_values import EMPTY, ON_DISK, UNKNOWN, Value
from snell.shell.cursor import Budget, TooMuchError
from snell.shell.tree import Node

HERE, HOST, CONTAINER = "here", "host", "container"
MOST_ALTERNATIVES = 6
LONGEST_NAME = 64  # no longer name of a program is known
text_of = attrgetter("text")


class Step(Struct, frozen=True, gc=False):
    """One program that would run, with all that is known about it."""

    program: str  # its name without folder, in lower case
    words: tuple[Value, ...] = ()
    cwd: str = ""
    stdin: Value | None = None
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()  # files that its output replaces
    appends: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    elevated: bool = False
    where: str = HERE
    sweeps: tuple[str, ...] = ()  # `find`: it acts on what is below these
    filtered: bool = False  # and only on some of that
    output: Value = EMPTY
    depth: int = 0
    code: Value | None = None  # the text that it is given to run
    piped: bool = False  # something else takes its output
    touched: frozenset[str] = frozenset()  # labels of the files that it names
    args: tuple[str, ...] = ()  # the texts of the words after the program
    script: str = ""  # the script on the disk that runs it

    @property
    def text(self) -> str:
        return " ".join(word.text for word in self.words).replace(UNKNOWN, "?")[:200]


class Call(Struct, frozen=True, gc=False):
    """A command about to be run: its words and its streams."""

    words: tuple[Value, ...]
    stdin: Value | None = None
    env: tuple[tuple[str, str], ...] = ()
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    appends: tuple[str, ...] = ()
    sweeps: tuple[str, ...] = ()
    filtered: bool = False
    opens: tuple[str, ...] = ()  # for reading and writing, with `<>`

    def with_words(self, *words: Value | str) -> "Call":
        return replace(self, words=tuple(Value(word) if isinstance(word, str) else word for word in words))


class ShellState:
    """The state of the shell at one point of the line."""

    guarded: tuple[str, ...] = ()  # folders of Snell's own files
    merges = False  # a second walk: files keep the labels that they got in the first
    conditional = depth = 0
    where = HERE
    elevated = piped = False
    script = ""

    def __init__(
        self, cwd: str, home: str, project: str, budget: Budget, env: tuple[tuple[str, str], ...] = ()
    ) -> None:
        self.cwd, self.home, self.project = cwd, home, project
        self.budget = budget
        self.variables: dict[str, tuple[Value, ...]] = dict(_first_variables(cwd, home, project, env))
        self.exported: set[str] = {"HOME", "PWD", "TMPDIR", "PATH", "SHELL", *dict(env)}
        self.own: set[str] = set()  # variables that the line itself has set
        self.loaded = set[tuple[str, str]]()  # folder and text of modules that were followed: each runs once
        self.functions: dict[str, Node] = {}
        self.aliases: dict[str, str] = {}
        self.files: dict[str, Value] = {}
        self.links: dict[str, str] = {}  # that the line itself makes
        self.sinks: dict[str, Node] = {}  # `>(...)`: what reads the path
        self.fds: dict[str, str] = {}
        self.folders: list[str] = []

    def fork(self) -> "ShellState":
        """Return the state of a subshell: it has everything, and keeps its changes to itself, except those of files."""
        child = ShellState.__new__(ShellState)
        child.__dict__.update(self.__dict__)
        child.variables = dict(self.variables)
        child.exported = set(self.exported)
        child.functions, child.aliases = dict(self.functions), dict(self.aliases)
        child.fds, child.folders = dict(self.fds), list(self.folders)
        return child

    def absolute(self, path: str) -> str:
        """Return the path from the root; one that starts with an unknown part stays as it is."""
        if path[:1] == "~" and path[1:2] in ("", "/"):
            path = self.home + path[1:]
        return absolute_path(path, self.cwd)

    def assign(self, name: str, values: tuple[Value, ...]) -> None:
        if self.conditional and name in self.variables:
            values = tuple(dict.fromkeys((*self.variables[name], *values)))[:MOST_ALTERNATIVES]
        self.variables[name] = values
        self.own.add(name)

    def content(self, path: str) -> Value | None:
        """Return what a file holds, as far as this line or this session wrote it."""
        if not self.files:
            return None
        path = self.absolute(path)
        path = self.fds.get(path.rpartition("/fd/")[2], path) if "/fd/" in path else path
        found = self.files.get(path)
        if found is not None:
            return found
        lead, inside, around = path.rstrip("/") + "/", list[Value](), ""
        for name, value in self.files.items():
            if name.startswith(lead):
                inside.append(value)
            elif name[-1:] == UNKNOWN and path.startswith(name[:-1]) and name[-2:-1] == "/" and len(name) > len(around):
                around = name  # all that was unpacked there
        if len(around) > len("/?"):
            return self.files[around]
        return Value(UNKNOWN, frozenset(label for value in inside for label in value.labels)) if inside else None

    def script_text(self, path: str) -> Value | None:
        """Return the text of a script: what the line or session wrote, or what is on the disk of a project or home."""
        found = self.content(path)
        original = found.detail(ON_DISK) if found is not None and found.text == UNKNOWN else ""
        if (found is not None and not original) or self.where != HERE or UNKNOWN in path or _INSTALLED.search(path):
            return found
        path = self.absolute(path)
        text = "" if _INSTALLED.search(path) else read_script(path)
        if original and (copied := read_script(original)) != text:
            path, text = original, f"{copied}\n{text}"  # the copy may be older than both, or not be there yet
        return Value(text, frozenset((f"{ON_DISK} {path}",))) if text.strip() else found

    @contextmanager
    def inside_script(self, code: Value) -> Iterator[None]:
        """Follow a script on the disk: what cannot be parsed in it, or takes too long, is no fault of the line."""
        if not code.has(ON_DISK):
            yield
            return
        kept = self.budget, self.script, self.depth
        budget = self.budget = Budget()
        self.script = code.detail(ON_DISK)
        try:
            yield
        except TooMuchError as error:
            budget.trouble(str(error))
        finally:
            if budget.troubles:
                note_unread(self.script, budget.troubles[0])
            self.budget, self.script, self.depth = kept

    def write(self, path: str, value: Value, *, adds: bool = False) -> None:
        path = self.absolute(path)
        if self.merges and path in self.files:
            value = value.with_labels(*self.files[path].labels)
        self.files[path] = self.files.get(path, EMPTY).concat(value) if adds else value


_INSTALLED = pattern("installed_programs")


@lru_cache(maxsize=64)
def _first_variables(
    cwd: str, home: str, project: str, env: tuple[tuple[str, str], ...]
) -> dict[str, tuple[Value, ...]]:
    known = {
        **dict.fromkeys(("TMPDIR", "TMP", "TEMP"), "/tmp/user"),
        **dict.fromkeys(("AGENT_TOOLSDIRECTORY", "RUNNER_TOOL_CACHE"), "/opt/hostedtoolcache"),
        **dict.fromkeys(("GITHUB_WORKSPACE", "CI_PROJECT_DIR"), project),
        "HOME": home,
        "PWD": cwd,
        "OLDPWD": cwd,
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "SHELL": "/bin/bash",
        "IFS": " \t\n",
        "0": "bash",
        "RUNNER_TEMP": "/tmp/runner",
        "SNELL_HOME": f"{home}/.snell",
        "XDG_CONFIG_HOME": f"{home}/.config",
        "XDG_STATE_HOME": f"{home}/.local/state",
        **dict(env),
    }
    return {name: (Value(text),) for name, text in known.items()}


class Walk(Protocol):
    """What those who perform one command may ask of the walk through the line."""

    bombs: list[str]

    def line(self, text: str, scene: ShellState, stdin: Value | None = None) -> Value: ...
    def call(self, call: Call, scene: ShellState) -> Value: ...
    def record(self, call: Call, scene: ShellState, output: Value, code: Value | None = None) -> None: ...
    def set_arguments(self, scene: ShellState, words: tuple[Value, ...]) -> None: ...


# Runs one command in the state of the shell and returns its output; None where it leaves the command to other readers.
Performer = Callable[[Walk, Call, ShellState], Value | None]


@lru_cache(maxsize=128)  # few, as words may be long
def program_of(word: str) -> str:
    """Return the program that a command word names, in lower case: some file systems ignore the case."""
    name = word.rpartition("/")[2].lower()
    return name.removesuffix(".exe").removesuffix(".traditional").removesuffix(".openbsd") if "." in name else name
