"""Expand words the way the shell would, with what is known; gaps stay gaps."""

import fnmatch
import re
from collections.abc import Callable, Iterable
from functools import lru_cache

from snell.packs.guard.known_names import pattern
from snell.packs.guard.known_values import BREAK, EMPTY, UNKNOWN, UNKNOWN_VALUE, Value
from snell.packs.guard.shell.brace_expansion import expand_braces
from snell.packs.guard.shell.shell_state import MOST_ALTERNATIVES, ShellState
from snell.shell.grammar import make_tree
from snell.shell.tree import Arithmetic, Node, Part, Substitution, Text, Variable, Word
from snell.system.lazy_regex import lazy_regex

MOST_COMBINATIONS = 12
Capture = Callable[[ShellState, Node, str], Value]

_SECRET_NAME = pattern("secret_variable")


def fields(words: Iterable[Word], scene: ShellState, capture: Capture) -> list[list[Value]]:
    """Return the argument lists that these words may become."""
    rows: list[list[Value]] = [[]]
    for word in words:
        part = word.parts[0] if len(word.parts) == 1 else None
        if type(part) is Text and part.text and (part.quoted or ("{" not in part.text and part.text[0] != "~")):
            for row in rows:  # most words
                row.append(Value(part.text))
            continue
        for piece in expand_braces(word):
            choices = _choices(piece, scene, capture)
            if len(choices) == 1:
                for row in rows:
                    row += choices[0]
            else:
                rows = [[*row, *choice] for row in rows for choice in choices][:MOST_COMBINATIONS]
    return rows


def single(word: Word, scene: ShellState, capture: Capture) -> list[Value]:
    """Return what the word may become where it is not split, as on the right of `=`."""
    plain = word.plain
    if plain is not None:
        return [Value(_home(plain, word, scene))]
    return _texts(word, scene, capture)


def _choices(word: Word, scene: ShellState, capture: Capture) -> list[list[Value]]:
    if len(word.parts) == 1 and isinstance(word.parts[0], Text):
        return [[Value(_home(word.parts[0].text, word, scene))]]
    keeps = word.is_quoted
    rows = list[list[Value]]()
    for value in _texts(word, scene, capture):
        if BREAK in value.text:
            rows.append([Value(text, value.labels) for text in value.text.strip(BREAK).split(BREAK) if text or keeps])
        else:
            rows.append([value] if value.text or keeps else [])
    return rows


def _texts(word: Word, scene: ShellState, capture: Capture) -> list[Value]:
    values = [EMPTY]
    for index, part in enumerate(word.parts):
        options = _part(part, scene, capture)
        if not index and isinstance(part, Text) and not part.quoted:
            options = [Value(_tilde(part.text, scene))]
        values = [value.concat(option) for value in values for option in options][:MOST_ALTERNATIVES]
    return values


def _home(text: str, word: Word, scene: ShellState) -> str:
    return _tilde(text, scene) if text[:1] == "~" and not word.is_quoted else text


def _tilde(text: str, scene: ShellState) -> str:
    if text == "~" or text.startswith("~/"):
        return (scene.variables.get("HOME") or (Value(scene.home),))[0].text + text[1:]
    if text.startswith("~root"):
        return "/root" + text[5:]
    if text.startswith(("~+/", "~-/")) or text == "~+":
        return scene.cwd + text[2:]
    name, slash, rest = text[1:].partition("/")
    if text[0:1] == "~" and name.isidentifier():
        return f"/home/{name}{slash}{rest}"
    return text


def _part(part: Part, scene: ShellState, capture: Capture) -> list[Value]:
    if isinstance(part, Text):
        return [Value(part.text)]
    if isinstance(part, Variable):
        for inner in part.subscript:
            _part(inner, scene, capture)
        values = _variable(part, scene, capture)
        return values if part.quoted else [_split(value, scene) for value in values]
    if isinstance(part, Arithmetic):
        for inner in part.inside:
            _part(inner, scene, capture)
        return [Value("1")]
    return [_substitution(part, scene, capture)]


def _substitution(part: Substitution, scene: ShellState, capture: Capture) -> Value:
    output = capture(scene, part.body, part.process)
    if part.process:
        path = f"/dev/fd/p{len(scene.files)}"
        scene.files[path] = output
        if part.process == ">":
            scene.sinks[path] = part.body
        return Value(path, output.labels)
    output = Value(output.text.rstrip("\n"), output.labels)
    return output if part.quoted else _split(output, scene)


def _split(value: Value, scene: ShellState) -> Value:
    marks = scene.variables["IFS"][0].text if "IFS" in scene.variables else " \t\n"
    if not marks or not any(mark in value.text for mark in marks):
        return value
    pieces = value.text
    for mark in marks:
        pieces = pieces.replace(mark, BREAK)
    text = BREAK.join(piece for piece in pieces.split(BREAK) if piece)
    head = BREAK if pieces.startswith(BREAK) else ""
    tail = BREAK if pieces.endswith(BREAK) and text else ""
    return Value(head + text + tail, value.labels)


def _variable(part: Variable, scene: ShellState, capture: Capture) -> list[Value]:
    if part.name in ("$", "!"):
        return [Value("4321")]
    if part.name in ("?", "#", "-") or part.operator == "length":
        return [Value("1")]
    known = _lookup(part.name, scene)
    if part.operator == "indirect":
        return [inner for value in known or () for inner in _lookup(value.text, scene) or (UNKNOWN_VALUE,)] or [
            UNKNOWN_VALUE
        ]
    if not part.operator or part.operator in (":?", "?"):
        return list(known) if known is not None else [_unset(part.name)]
    if part.operator[-1] in "-=+" and part.operator[0] in ":-=+":
        return _with_default(part, known, scene, capture)
    if known is None:
        return [_unset(part.name)]
    argument = single(part.argument or Word(), scene, capture)[0].text
    for value in known if (part.operator, argument) == ("@", "P") else ():  # as a prompt, whose commands are run
        capture(scene, make_tree(f': "{value.text}"', scene.budget), "")
    return [Value(_apply_operator(value.text, part.operator, argument), value.labels) for value in known]


@lru_cache(maxsize=1024)
def _unset(name: str) -> Value:
    """Return the value of a variable that the line does not set; its name may show that it holds a secret."""
    if _SECRET_NAME.search(name):
        return Value(UNKNOWN, frozenset((f"secret ${name}",)))
    if _TEMPORARY.fullmatch(name):
        return Value(f"/tmp/user/{name}")
    return Value(UNKNOWN, frozenset((f"variable {name}",)))


_TEMPORARY = lazy_regex(r"(?:\w+_)?(?:tmp|temp)(?:_?(?:dir|path|folder|file|root|home)(?:ectory)?)?", re.IGNORECASE)


def _lookup(name: str, scene: ShellState) -> tuple[Value, ...] | None:
    if name.endswith("]"):
        name, _, index = name[:-1].partition("[")
        values = scene.variables.get(name)
        if values is None:
            return values
        if index in ("@", "*"):
            return tuple(Value(_KEYED.sub(r"\1", value.text), value.labels) for value in values)
        return tuple(Value(_element(value.text, index), value.labels) for value in values)
    if name in ("@", "*"):
        return scene.variables.get("@")
    return scene.variables.get(name)


_KEYED = lazy_regex(rf"(^|{BREAK})\[[^\]{BREAK}]*\]=")


def _element(text: str, index: str) -> str:
    items = text.split(BREAK)
    for item in items:
        if item.startswith(f"[{index}]="):
            return item[len(index) + 3 :]
    if index.lstrip("-").isdigit() and -len(items) <= int(index) < len(items):
        return items[int(index)]
    return UNKNOWN if len(items) > 1 else text


def _with_default(part: Variable, known: tuple[Value, ...] | None, scene: ShellState, capture: Capture) -> list[Value]:
    argument = _texts(part.argument or Word(), scene, capture)
    is_set = known is not None and any(value.text for value in known)
    if part.operator[-1] == "+":
        return argument if is_set else [EMPTY, *argument]
    if is_set and known is not None:
        return list(known)
    if part.operator[-1] == "=":
        scene.assign(part.name, tuple(argument))
    return argument


def _apply_operator(text: str, operator: str, argument: str) -> str:
    if UNKNOWN in text or len(text) > 2000:
        return text if operator in ("#", "##") else UNKNOWN
    if operator[0] in "#%":
        return _strip(text, operator, argument)
    if operator[0] == "/":
        old, _, new = argument.partition("/")
        if any(mark in old for mark in "*?["):
            return new if old == "*" else UNKNOWN
        return text.replace(old, new, -1 if operator.startswith("//") else 1) if old else text
    if operator[0] in "^,":
        whole = len(operator) > 1
        changed = text.upper() if operator[0] == "^" else text.lower()
        return changed if whole else changed[:1] + text[1:]
    return _slice(text, argument) if operator == ":" else text


LONGEST_STRIPPED = 1_000  # every length is tried


def _strip(text: str, operator: str, pattern: str) -> str:
    if len(text) > LONGEST_STRIPPED or len(pattern) > LONGEST_STRIPPED:
        return UNKNOWN
    lengths = range(len(text) + 1) if len(operator) == 1 else range(len(text), -1, -1)
    for length in lengths:
        piece = text[:length] if operator[0] == "#" else text[len(text) - length :]
        if fnmatch.fnmatchcase(piece, pattern):
            return text[length:] if operator[0] == "#" else text[: len(text) - length]
    return text


def _slice(text: str, argument: str) -> str:
    start, _, length = (piece.strip() for piece in argument.partition(":"))
    if not start.lstrip("-").isdigit() or (length and not length.lstrip("-").isdigit()):
        return UNKNOWN
    rest = text[int(start) :]
    return rest[: int(length)] if length else rest
