"""The state while one settings file is parsed, and the results."""

from typing import Any

from msgspec import Struct, field

from snell.model.hooks import Hook, Scope
from snell.settings.problems import InvalidValueError, Problem, Severity
from snell.settings.schema import Spellings
from snell.settings.value_tree import Node

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
        self.problems.append(wrong.problem(self.file))

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
    """A Python file of a project that may declare hooks; it has a digest only when it may run."""

    path: str
    digest: str = ""
    untrusted: str = ""
