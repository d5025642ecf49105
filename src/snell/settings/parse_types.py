"""The state while one settings file is parsed, and the results."""

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from snell.model.hooks import Hook, PythonFile, Scope
from snell.settings.file_digests import FileStamp, watch_file
from snell.settings.schema import Spellings
from snell.settings.value_tree import InvalidValueError, Node, Problem, Severity

MOST_PROBLEMS = 100


class ParseState(Struct):
    """The file that is being parsed, and the problems found so far."""

    file: str
    layer: str = "user"
    scope: Scope = Scope.SESSION
    folder: str = ""  # the base of relative paths in the file
    plugin_root: str = ""
    extra_events: frozenset[str] = frozenset()
    is_foreign: bool = False  # a file of another client, whose unknown keys are ignored
    problems: list[Problem] = field(default_factory=list)

    def add_problem(self, line: int, message: str, advice: str = "", severity: Severity = "error") -> None:
        self.problems.append(Problem(self.file, max(line, 1), message, advice, severity))

    def add_error(self, wrong: InvalidValueError) -> None:
        self.add_problem(wrong.line, wrong.message, wrong.advice)

    def add_fault(self, message: str, line: int, advice: str, event: str = "", *, is_file: bool = False) -> "Fault":
        """Report an error, and return the part of the file that cannot be read because of it."""
        self.add_problem(line, message, advice)
        return Fault(str(self.problems[-1]), max(line, 1), event, is_file=is_file)

    def nearest(self, known: Spellings, name: str) -> str:
        """Return advice for an unknown key; after many problems without a search, which takes long."""
        return known.nearest(name) if len(self.problems) < MOST_PROBLEMS else "remove it"

    def shown_problems(self) -> tuple[Problem, ...]:
        """Return the problems, or the first ones and the number of the others."""
        further = len(self.problems) - MOST_PROBLEMS
        if further <= 0:
            return tuple(self.problems)
        last = self.problems[MOST_PROBLEMS]
        more = Problem(self.file, last.line, f"and {further:,} more problems", "correct the first ones")
        return (*self.problems[:MOST_PROBLEMS], more)


class Entry(Struct, frozen=True):
    """One hook as it is written, with its keys as they are spelled."""

    fields: dict[str, Node]
    line: int
    event: Node | None = None  # from the table of events that contains the entry
    is_client_form: bool = False


class Declared(Struct, frozen=True):
    """A hook and its definition in canonical form."""

    hook: Hook
    definition: dict[str, Any]


class Value(Struct, frozen=True):
    """One top-level setting and its origin."""

    name: str
    value: Any
    layer: str = "default"
    file: str = ""
    line: int = 0

    @property
    def base_layer(self) -> str:
        return self.layer.partition(":")[0]


class Parsed(Struct, frozen=True):
    """The content of one file."""

    declared: tuple[Declared, ...] = ()
    values: tuple[Value, ...] = ()
    problems: tuple[Problem, ...] = ()
    faults: tuple["Fault", ...] = ()


class Fault(Struct, frozen=True):
    """An entry or a file that could not be read; in a policy it must not have the effect of an approval."""

    reason: str
    line: int
    event: str = ""  # empty: it could be for any event
    definition: dict[str, Any] = {}  # the part of the entry that could be read
    is_file: bool = False  # the complete file could not be read


class PythonSource(Struct, frozen=True):
    """A Python file that may declare hooks; one of a project has a digest only when it may run."""

    path: str
    digest: str = ""
    untrusted: str = ""
    layer: str = "project"


class PackSource(Struct, frozen=True):
    """A folder with a `pack.toml`, which the hook loader reads."""

    folder: str
    layer: str


class Collected(Struct):
    """Everything found so far in the files of one working directory."""

    files: dict[str, FileStamp]
    hooks: list[Hook] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    values: list[Value] = field(default_factory=list)
    python: list[PythonSource] = field(default_factory=list)
    packs: list[PackSource] = field(default_factory=list)
    is_trusted: bool = False
    trusts_notes: bool = False
    trusts_mission: bool = False
    trusted_folder: str = ""  # a project without a `.snell` folder that the user approved

    @property
    def extra_events(self) -> frozenset[str]:
        return extra_events(self.values)

    @property
    def hook_defaults(self) -> dict[str, Any]:
        """Return keys for hooks that do not have them; the files that were read first win."""
        given = [value.value for value in self.values if value.name == "hook_defaults"]
        return {name: value for table in reversed(given) for name, value in table.items()}

    def take(self, parsed: Parsed) -> None:
        self.values += parsed.values
        for each in parsed.declared:
            self.add_hook(each.hook, each.definition)
        # Files of a project are watched with its other files, because their digests were approved.
        handlers = (each.hook.handler for each in parsed.declared)
        self.watch(watch_file(each.path) for each in handlers if isinstance(each, PythonFile))
        self.problems += parsed.problems

    def add_hook(self, hook: Hook, definition: Mapping[str, Any]) -> None:
        """Add a hook, with `hook_defaults` for the keys that its definition does not have."""
        missing = {name: value for name, value in self.hook_defaults.items() if name not in definition}
        if "timeout" in missing and not definition.keys().isdisjoint({"timeout_sec", "timeout_ms"}):
            del missing["timeout"]
        self.hooks.append(replace(hook, **missing) if missing else hook)

    def watch(self, files: Iterable[FileStamp]) -> None:
        for file in files:
            self.files.setdefault(file.path, file)


def extra_events(values: Iterable[Value]) -> frozenset[str]:
    """Return the event names that `extra_events` adds."""
    return frozenset(name for value in values if value.name == "extra_events" for name in value.value)
