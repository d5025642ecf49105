"""Programs that run a command once for many things: `find`, `fd`, `xargs`, `parallel`."""

import itertools
import re

from msgspec.structs import replace

from snell.packs.guard.known_names import names, pattern
from snell.packs.guard.known_values import EMPTY, FED, UNKNOWN, UNKNOWN_VALUE, Value
from snell.packs.guard.shell.interpreters import SHELLS, run_code
from snell.packs.guard.shell.program_files import file_value
from snell.packs.guard.shell.shell_state import Call, Performer, ShellState, Walk, program_of
from snell.packs.guard.shell.text_filters import unescape
from snell.shell.arguments import arguments_of
from snell.shell.programs import program_row
from snell.shell.wrappers import find_inner
from snell.system.lazy_regex import lazy_regex

_EXECUTES = frozenset(("-exec", "-execdir", "-ok", "-okdir"))
_FILTERS = pattern("tests_of_find")
_MOST_ITEMS = 20
_XARGS_VALUED = names("options_of_xargs_with_value")


def _find(walk: Walk, call: Call, scene: ShellState) -> Value:
    words = list(call.words[1:])
    while words and re.fullmatch(r"-[HLP]|-O\d?|-D", words[0].text):
        words.pop(0)
    roots = list[str]()
    while words and not words[0].text.startswith(("-", "(", "!")):
        roots.append(words.pop(0).text)
    roots = roots or ["."]
    words = _without_operands(words)
    args = [word.text for word in words]
    pairs = itertools.pairwise(["", *args])
    filtered = any(_FILTERS.match(arg) and before not in ("!", "-not") for before, arg in pairs)
    sweeping = replace(
        call,
        words=(call.words[0], *map(Value, roots), *words),
        sweeps=tuple(scene.absolute(root) for root in roots),
        filtered=filtered,
    )
    found = _found_name(roots[0], words).with_labels("found some" if filtered else "found all")
    walk.record(sweeping, scene, found)
    for command in _exec_commands(words):
        replaced = [Value(word.text.replace("{}", found.text), word.labels | found.labels) for word in command]
        walk.call(replace(sweeping, words=tuple(replaced), stdin=None), scene)
    return _printed_lines(words, found, scene)


_PART_OF_NAME = lazy_regex(r"%[-\d.]*[pPfh]")


def _printed_lines(words: list[Value], found: Value, scene: ShellState) -> Value:
    """Return the lines that `find` prints, if they begin like commands: `-printf 'rm "%p"\\n'`."""
    for before, word, after in zip(words, words[1:], [*words[2:], EMPTY], strict=False):
        template = word if before.text == "-printf" else after if before.text == "-fprintf" else EMPTY
        if re.match(r"\s*[a-z]", template.text):
            line = Value(unescape(_PART_OF_NAME.sub(lambda _found: found.text, template.text)), found.labels)
            if template is word:
                return line
            scene.write(word.text, line)
    return found


def _without_operands(words: list[Value]) -> list[Value]:
    """Mark words that belong to a test, such as `-delete` in `-name -delete`, so that they are not actions."""
    kept, skip = list[Value](), False
    for word in words:
        kept.append(Value(" " + word.text, word.labels) if skip and word.text.startswith("-") else word)
        skip = not skip and _FILTERS.match(word.text) is not None and word.text != "-empty"
    return kept


def _found_name(root: str, words: list[Value]) -> Value:
    """Return the path of what is found, with the name if one plain name is searched for."""
    for before, word in itertools.pairwise(words):
        if before.text in ("-name", "-iname") and not re.search(r"[?\[]", word.text):
            return Value(f"{root.rstrip('/')}/{UNKNOWN}/{word.text}")
    return Value(f"{root.rstrip('/')}/{UNKNOWN}")


def _exec_commands(words: list[Value]) -> list[list[Value]]:
    commands: list[list[Value]] = []
    current: list[Value] | None = None
    for word in words:
        if current is None:
            current = [] if word.text in _EXECUTES else None
        elif word.text in (";", "+") and current:
            commands.append(current)
            current = None
        else:
            current.append(word)
    if current:
        commands.append(current)
    return commands


_WHOLE_NAME = lazy_regex(r"\^?((?:\\?[\w.-])+)\$")  # an expression for one name, or for the end of one
_ALL = ((), (".",), (".*",), ("",))  # patterns of `fd` that find everything


def _fd(walk: Walk, call: Call, scene: ShellState) -> Value:
    args = [word.text for word in call.words]
    walk.record(call, scene, UNKNOWN_VALUE)
    for option in ("-x", "-X", "--exec", "--exec-batch"):
        if option in args:
            command = call.words[args.index(option) + 1 :]
            given = arguments_of("fd", args[1 : args.index(option)])
            own, ending = given.operands, given.value("-e", "--extension")
            whole = _WHOLE_NAME.fullmatch(own[0]) if own else None
            name = f"*.{ending}" if ending else whole[1].replace("\\", "") if whole else ""
            roots = tuple(scene.absolute(root) for root in own[1:]) or (scene.cwd,)
            found = Value(f"./{UNKNOWN}/{name}" if name else f"./{UNKNOWN}")
            words = [found if word.text == "{}" else word for word in command]
            if words and found not in words:
                words.append(found)
            walk.call(
                replace(call, words=tuple(words), sweeps=roots, filtered=bool(ending) or own[:1] not in _ALL), scene
            )
    return Value(f"./{UNKNOWN}")


def _items(stdin: Value | None) -> list[Value]:
    if stdin is None or not stdin.is_known:
        text = stdin.text.strip() if stdin else UNKNOWN
        return [
            Value(text if " " not in text and "\n" not in text else UNKNOWN, stdin.labels if stdin else frozenset())
        ]
    return [Value(text, stdin.labels) for text in stdin.text.replace("\0", "\n").split()[:_MOST_ITEMS]]


def _xargs(walk: Walk, call: Call, scene: ShellState) -> Value:
    words, mark = list(call.words[1:]), ""
    given = call.stdin
    while words and words[0].text.startswith("-") and len(words[0].text) > 1:
        option = words.pop(0).text
        if option in ("-I", "-J") or (option == "--replace" and words and "{" in words[0].text):
            mark = words.pop(0).text if words else "{}"
        elif re.match(r"-[IJ].", option):
            mark = option[2:]
        elif option.startswith(("-i", "--replace")):
            mark = option.removeprefix("--replace").removeprefix("-i").removeprefix("=") or "{}"
        elif option == "--":
            break
        elif option in ("-a", "--arg-file") and words:
            path = words.pop(0).text
            given = scene.content(path) or file_value(scene.absolute(path), scene)
        elif (option in _XARGS_VALUED or re.fullmatch(r"-\w*[nPLs]", option)) and words:
            words.pop(0)
    return _each(walk, call, scene, words or [Value("echo")], mark, _items(given))


def _each(walk: Walk, call: Call, scene: ShellState, words: list[Value], mark: str, items: list[Value]) -> Value:
    if not items:
        items = [EMPTY]
    if program_of(words[0].text) in SHELLS and words[-1].text in ("-c", mark) and "-c" in (word.text for word in words):
        text = call.stdin.text if call.stdin is not None else UNKNOWN
        fed = Value(text, frozenset((FED,)).union(*(item.labels for item in items)))
        return run_code(walk, call.with_words(*words), scene, fed, scene.fork())
    if mark and any(mark in word.text for word in words):
        output = EMPTY
        for item in items:
            row = [
                Value(word.text.replace(mark, item.text), word.labels | item.labels) if mark in word.text else word
                for word in words
            ]
            output = output.concat(walk.call(replace(call, words=tuple(row), stdin=None), scene))
        return output
    return walk.call(replace(call, words=(*words, *items), stdin=None), scene)


def _parallel(walk: Walk, call: Call, scene: ShellState) -> Value:
    inner = find_inner(replace(program_row("parallel"), wraps=True), [word.text for word in call.words[1:]])
    words = list(call.words[1 + inner.start :]) if inner else []
    items, texts = _items(call.stdin), [word.text for word in words]
    if ":::" in texts:
        at = texts.index(":::")
        items, words = words[at + 1 :], words[:at]
    if len(words) > 1 or (words and " " not in words[0].text):
        return _each(walk, call, scene, words, "{}", items)
    code = words[0].text if words else "{}"
    for item in items or [EMPTY]:
        line = Value(code.replace("{}", item.text) if "{}" in code else f"{code} {item.text}", item.labels)
        if words:
            walk.line(line.text, scene.fork())
        elif item.text.strip():
            run_code(walk, call, scene, line, scene.fork())
    return UNKNOWN_VALUE


PERFORMERS: dict[str, Performer] = {
    **dict.fromkeys(("find", "gfind", "bfs"), _find),
    **dict.fromkeys(("fd", "fdfind"), _fd),
    **dict.fromkeys(("xargs", "gxargs"), _xargs),
    "parallel": _parallel,
}
