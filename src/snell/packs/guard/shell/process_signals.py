"""Which processes a program lists, which patterns find those of Snell, and which ones code sends signals to."""

import re
from collections.abc import Iterable, Iterator

from snell.packs.guard.known_names import pattern
from snell.packs.guard.known_values import ENVIRONMENT, LISTED
from snell.packs.guard.sensitive_files import LONGEST_PATTERN, is_snell_file
from snell.system.lazy_regex import lazy_regex

# How they show up in a list of processes.
_LINES = ("from snell.daemon.main import main; raise SystemExit(main())", "-m snell hook", "snell-hook")
_NAMES = ("snell", "snell-hook")
_NAME = lazy_regex(r"snell(?:\.daemon\.main|-hook)?")
_ENDS = lazy_regex(r"\bkill(?:pg)?\b|\.(?:terminate|send_signal|suspend)\(")
_ENDS_OTHERS = lazy_regex(r"psutil|process_iter|pidfd|\bos\.kill|(?<![.\w])kill(?:pg)?\b")
_KILLED = lazy_regex(r"\bkill(?:pg)?\b\s*\(?([^;)\n]{0,80})")
_AWK_PATTERN = lazy_regex(r"/((?:[^/\\\n]|\\.)+)/")
SECONDS = 0.05
ITSELF, WITH_OTHERS = "itself", "with others"


def finds_snell(args: Iterable[str], *, is_whole: bool = True) -> str:
    """
    `ITSELF` when one of the words names Snell, `WITH_OTHERS` when it finds Snell by other letters, else nothing.

    Args:
        is_whole: the whole command line is searched, not only the name of the program.
    """
    words = [arg for arg in args if arg and len(arg) < 500 and not arg.startswith("-")]
    if any("snell" in word for word in words):
        return ITSELF
    found = [_match_text(word, line) for word in words for line in (_LINES if is_whole else _NAMES)]
    return ITSELF if ITSELF in found else next(filter(None, found), "")


def _match_text(pattern: str, line: str) -> str:
    import regex  # slow to import, and hardly any command ends processes

    if pattern.replace("/", "").isalnum() and pattern not in line:
        return ""
    try:
        found = regex.search(pattern, line, timeout=SECONDS)
    except (regex.error, TimeoutError):
        return ""
    if found is None or found.start() == found.end():
        return ""
    start, end = _NAME.search(line).span()  # type: ignore[union-attr]  # each of the lines has it
    return ITSELF if found.start() < end and found.end() > start else WITH_OTHERS


def signals(masked: str, strings: list[str]) -> Iterator[tuple[str, ...]]:
    """As commands, the signals that code sends: to the numbers that it spells out, and to Snell where it names that."""
    if not any(word in masked for word in ("kill", "terminate", "send_signal", "suspend")) or not _ENDS.search(masked):
        return
    named = (text for text in strings if text.endswith("daemon.lock") or is_snell_file(text) or _is_in_list(text))
    if any(named) and ("Popen(" not in masked or _ENDS_OTHERS.search(masked)):  # else only its own children
        yield "pkill", "snell"
    for found in _KILLED.finditer(masked):
        yield from (("kill", "-TERM", number) for number in re.findall(r"(?<![\w«-])-?\d{2,9}(?![\w»])", found[1]))


def _is_in_list(text: str) -> bool:
    """Tell whether a text that names Snell finds one of its processes in a list of them: no other module or file."""
    return "snell" in text and len(text) < LONGEST_PATTERN and any(_match_text(text, line) for line in _LINES)


_KINDS = tuple((kind, pattern(f"lists_{kind}_processes")) for kind in ("few", "all", "user", "named"))
_LISTERS = frozenset(("ps", "pgrep", "pidof"))
_FINDS, _ONE_LINE, _ONLY_NAMES = pattern("finds_lines"), pattern("passes_one_line"), pattern("keeps_only_names")


def listed_processes(program: str, args: list[str]) -> str:
    """Return which processes a program lists, as the label of its output; nothing where they are few or unknown."""
    if program not in _LISTERS:
        return ""
    line = "\0".join((program, *args))
    matches = ((kind, known.match(line)) for kind, known in _KINDS)
    kind, found = next((each for each in matches if each[1]), ("few", None))
    return f"{LISTED} {kind} {found[found.lastindex or 0]}" if found and kind != "few" else ""


def passed_labels(program: str, args: list[str], labels: frozenset[str]) -> frozenset[str]:
    """Return the labels of what a filter passes on: some of the listed processes, or variables without a value."""
    if not (LISTED in (known := "\0".join(labels)) or ENVIRONMENT in known):  # nearly always
        return labels
    line, text = "\0".join((program, *args)), " ".join(args)
    listed = next((label for label in labels if label.startswith(f"{LISTED} ")), "")
    if _ONLY_NAMES.match(line):
        return frozenset(label for label in labels if not label.startswith(ENVIRONMENT))
    if _FINDS.match(line) and re.search(r"[^\W_]", text):
        found = {listed: f"{LISTED} named {text}", f"{ENVIRONMENT} all variables": f"{ENVIRONMENT} {text}"}
        return frozenset(found.get(label, label) for label in labels)
    return labels - {listed} if _ONE_LINE.match(line) else labels


# Functions of Snell that do what a command does which needs a person.
_COMMANDS = {
    "begin_pause": "pause",
    "allow_once": "allow",
    "approve": "trust",
    "approve_home": "trust",
    "issue": "code",
}
_IMPORTS = lazy_regex(rf"\bfrom\s+snell\.[\w.]+\s+import\s+[^;\n]*?\b({'|'.join(_COMMANDS)})\b")


def snell_commands(masked: str) -> Iterator[tuple[str, ...]]:
    """As commands, what code imports from Snell to do without them."""
    yield from (("snell", _COMMANDS[found[1]]) for found in _IMPORTS.finditer(masked))


def signals_of_awk(code: str) -> Iterator[tuple[str, ...]]:
    """`awk '/snell/ {system("kill " $2)}'` ends what its pattern finds."""
    if "kill" in code and finds_snell(_AWK_PATTERN.findall(code[:4_000])):
        yield "pkill", "snell"
