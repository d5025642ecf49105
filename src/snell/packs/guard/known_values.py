"""The known content of a word or stream: text with unknown parts, and labels for where it came from."""

from msgspec import Struct

from snell.system.lazy_regex import lazy_regex

UNKNOWN = "\ue000"  # stands for text that is only known at run time
BREAK = "\ue001"  # ends a field
LONGEST_VALUE = 131_072

# Labels; a space and a detail may follow.
NETWORK, SECRET, DECODED, ENVIRONMENT, ARCHIVE = "network", "secret", "decoded", "environment", "archive"
PRIVATE = "private"  # fine to read, not to send
FED = "fed"  # words that became code
INIT = "init"  # printed to be run
SOURCE = "source"  # a program that was made from a text in this language
REMOTE = "remote"  # the address of a git remote that this line or session has set
MOVED = "moved"  # where it lay before
PROGRAM = "program"  # a copy of that program of the system
PACKAGE = "package"  # of a registry, that is downloaded to be run
ON_DISK = "on-disk"  # the path of a script that was there before the session
PROCESS = "process"  # the number of a process of that name
LISTED = "listed"  # the numbers of `all` processes, of those of a `user`, or of those that are `named` so


class Value(Struct, frozen=True, gc=False):
    text: str = UNKNOWN
    labels: frozenset[str] = frozenset()

    @property
    def is_known(self) -> bool:
        return UNKNOWN not in self.text

    def has(self, label: str) -> bool:
        for known in self.labels:  # noqa: SIM110 - asked for every step, and a generator takes longer than all the rest
            if known.partition(" ")[0] == label:
                return True
        return False

    def detail(self, label: str) -> str:
        return next((known.partition(" ")[2] for known in sorted(self.labels) if known.startswith(label)), "")

    def with_labels(self, *labels: str) -> "Value":
        return Value(self.text, self.labels.union(labels))

    def concat(self, other: "Value") -> "Value":
        if not other.text and not other.labels:
            return self
        labels = self.labels | other.labels if other.labels else self.labels
        return Value((self.text + other.text)[:LONGEST_VALUE], labels)


EMPTY = Value("")
UNKNOWN_VALUE = Value()


def merge_values(values: "list[Value]") -> Value:
    """Return one value for several; its text is unknown if they differ."""
    if len(values) == 1:
        return values[0]
    labels = frozenset(label for value in values for label in value.labels)
    texts = {value.text for value in values}
    return Value(texts.pop() if len(texts) == 1 else UNKNOWN, labels)


# `r${z}m`, `--force${x}`: a variable that the line does not set is most likely empty, and then the letters around it
# are the word. Such a line is judged both ways. A gap that is a complete part of a path or value (`$DIR/build`,
# `name=$X`) stays a gap.
_INSIDE = lazy_regex(rf"(?<=[A-Za-z0-9]){UNKNOWN}++|(?<!{UNKNOWN}){UNKNOWN}++(?=[A-Za-z0-9])|^{UNKNOWN}++(?=-)")


def drop_gaps(row: list[Value]) -> list[Value] | None:
    """Return the words as if their unknown parts were empty; None where that makes no difference."""
    if UNKNOWN not in "".join([value.text for value in row]):
        return None
    words = [Value(drop_text_gaps(value.text), value.labels) if UNKNOWN in value.text else value for value in row]
    return words if words != row else None


def drop_text_gaps(text: str) -> str:
    return _INSIDE.sub("", text)


def is_unset_variable(value: Value) -> bool:
    """Tell whether only the name of a variable is known."""
    return bool(value.text) and not value.text.strip(UNKNOWN + "/ ") and value.has("variable")
