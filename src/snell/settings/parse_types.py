"""What is known while one file is read, and what comes of it."""

from typing import Any

from msgspec import Struct, field

from snell.model.hooks import Hook, Scope
from snell.settings.problems import InvalidValueError, Problem, Severity
from snell.settings.schema import Spellings
from snell.settings.value_tree import Node

MOST_COMPLAINTS = 100


class Reading(Struct):
    """One file under the reader's eyes; complaints collect here."""

    file: str
    layer: str = "user"
    scope: Scope = Scope.SESSION
    folder: str = ""  # what relative paths in the file start from
    plugin_root: str = ""
    extra_events: frozenset[str] = frozenset()
    is_foreign: bool = False  # written for another program, whose further keys are none of our business
    complaints: list[Problem] = field(default_factory=list)

    def complain(self, line: int, message: str, advice: str = "", severity: Severity = "error") -> None:
        self.complaints.append(Problem(self.file, max(line, 1), message, advice, severity))

    def report(self, wrong: InvalidValueError) -> None:
        self.complaints.append(wrong.complaint(self.file))

    def nearest(self, known: Spellings, name: str) -> str:
        """Advice for an unknown key; looking for it takes long enough to stop after so many."""
        return known.nearest(name) if len(self.complaints) < MOST_COMPLAINTS else "remove it"

    def shown_problems(self) -> tuple[Problem, ...]:
        """The complaints, or as many as a person would read."""
        further = len(self.complaints) - MOST_COMPLAINTS
        if further <= 0:
            return tuple(self.complaints)
        last = self.complaints[MOST_COMPLAINTS]
        more = Problem(self.file, last.line, f"and {further:,} more complaints", "mend the first ones")
        return (*self.complaints[:MOST_COMPLAINTS], more)


class Entry(Struct, frozen=True):
    """One hook as it is written: its keys as they are spelled, wherever they stood."""

    fields: dict[str, Node]
    line: int
    event: Node | None = None  # from the table of events that the entry stands in
    is_client_form: bool = False


class Declared(Struct, frozen=True):
    """A hook, and what was written to get it, in one canonical form."""

    hook: Hook
    definition: dict[str, Any]


class Value(Struct, frozen=True):
    """One top-level setting and where it was made."""

    name: str
    value: Any
    layer: str = "default"
    file: str = ""
    line: int = 0


class Parsed(Struct, frozen=True):
    """What one file holds."""

    declared: tuple[Declared, ...] = ()
    values: tuple[Value, ...] = ()
    complaints: tuple[Problem, ...] = ()
    faults: tuple["Fault", ...] = ()


class Fault(Struct, frozen=True):
    """An entry, or a whole file, that could not be read; in a policy it must not look like an approval."""

    reason: str
    line: int
    event: str = ""  # empty: it could be about any event
    definition: dict[str, Any] = {}  # whatever of the entry could be read
    is_file: bool = False  # nothing of the file could be read


class PythonSource(Struct, frozen=True):
    """A Python file of a project that may declare hooks; the digest is there only when it may run."""

    path: str
    digest: str = ""
    untrusted: str = ""
