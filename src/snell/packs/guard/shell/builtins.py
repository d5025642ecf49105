"""The shell's own commands: those that change what the rest of the line means."""

from msgspec.structs import replace

from snell.packs.guard.known_values import BREAK, EMPTY, UNKNOWN, UNKNOWN_VALUE, Value, is_unset_variable
from snell.packs.guard.shell import interpreters
from snell.packs.guard.shell.program_output import printf_output
from snell.packs.guard.shell.shell_state import Call, Performer, ShellState, Walk


def _cd(_walk: Walk, call: Call, scene: ShellState) -> Value:
    targets = [word.text for word in call.words[1:] if not word.text.startswith("-") or word.text == "-"]
    if call.words[0].text == "popd":
        scene.cwd = scene.folders.pop() if scene.folders else UNKNOWN
        return EMPTY
    if call.words[0].text == "pushd":
        scene.folders.append(scene.cwd)
    if targets[:1] == ["-"]:
        target = scene.variables.get("OLDPWD")[0].text if scene.variables.get("OLDPWD") else UNKNOWN  # type: ignore[index]  # checked
    else:
        target = scene.absolute(targets[0]) if targets else scene.home
    scene.variables["OLDPWD"] = (Value(scene.cwd),)
    if not targets or targets[0]:
        scene.cwd = target
    before = scene.variables.get("PWD", ())
    set_by_hand = before[-1:] != scene.variables["OLDPWD"]  # and stays so when this `cd` fails
    scene.variables["PWD"] = (*before, Value(scene.cwd)) if set_by_hand else (Value(scene.cwd),)
    return EMPTY


def _declare(walk: Walk, call: Call, scene: ShellState) -> Value | None:
    options = [word.text for word in call.words[1:] if word.text.startswith("-")]
    names = [word for word in call.words[1:] if not word.text.startswith("-")]
    if not names and not call.env:
        return _print_variables(walk, call, scene)
    letters = "".join(options) + "x" * (call.words[0].text == "export")
    if "f" in letters:
        scene.exported.update(f"{name.text}()" for name in names if "x" in letters)
        return EMPTY
    for word in names:
        name, equals, text = word.text.partition("=")
        name = name.removesuffix("+").partition("[")[0]
        if equals and any("n" in option for option in options) and scene.variables.get(text):
            scene.assign(name, scene.variables.get(text) or ())
        elif equals:
            scene.assign(name, (Value(text, word.labels),))
        if call.words[0].text == "export" or any("x" in option for option in options):
            if name not in scene.variables:
                scene.variables[name] = (UNKNOWN_VALUE,)
            scene.exported.add(name)
    walk.record(call, scene, EMPTY)
    return EMPTY


def _print_variables(walk: Walk, call: Call, scene: ShellState) -> Value:
    printed = Value(UNKNOWN, frozenset(("environment all variables",)))
    walk.record(call, scene, printed)
    return printed


def _unset(walk: Walk, call: Call, scene: ShellState) -> Value:
    walk.record(call, scene, EMPTY)
    if any(word.text == "-f" for word in call.words[1:]):
        return EMPTY
    for word in call.words[1:]:
        if word.text in scene.variables:
            scene.variables[word.text] = (EMPTY,)
        scene.variables.setdefault(word.text, (EMPTY,))
    return EMPTY


def _alias(_walk: Walk, call: Call, scene: ShellState) -> Value:
    for word in call.words[1:]:
        name, equals, text = word.text.partition("=")
        if equals:
            scene.aliases[name] = text
    return EMPTY


def _hash(_walk: Walk, call: Call, scene: ShellState) -> Value:
    args = [word.text for word in call.words[1:]]
    if len(args) == 3 and args[0] == "-p":
        scene.aliases[args[2]] = args[1]
    return EMPTY


def _eval(walk: Walk, call: Call, scene: ShellState) -> Value:
    words = [word for word in call.words[1:] if word.text != "--"]
    labels = frozenset(label for word in words for label in word.labels)
    code = Value(" ".join(word.text for word in words), labels)
    if not words and call.stdin is not None:
        code = call.stdin  # `... | eval` runs nothing in most shells, but its author expects it to
    return interpreters.run_code(walk, replace(call, words=call.words[:1]), scene, code, scene)


def _source(walk: Walk, call: Call, scene: ShellState) -> Value | None:
    words = [word for word in call.words[1:] if word.text != "--"]
    if not words:
        return EMPTY
    path = words[0].text
    content = call.stdin if path in interpreters.STDIN and call.stdin else scene.script_text(path)
    walk.record(call, scene, EMPTY, code=words[0] if content is None and is_unset_variable(words[0]) else None)
    if content is not None:
        interpreters.run_code(walk, call, scene, content, scene)
    else:
        _may_have_changed(scene)
        folder, activates, _shell = scene.absolute(path).rpartition("/bin/activate")
        if activates:
            scene.assign("VIRTUAL_ENV", (Value(folder),))
            scene.exported.add("VIRTUAL_ENV")
    return EMPTY


def _may_have_changed(scene: ShellState) -> None:
    """Mark variables of the line as uncertain: a file of unknown content was sourced after they were set."""
    for name, values in scene.variables.items():
        if name in scene.own and UNKNOWN_VALUE not in values:
            scene.variables[name] = (*values, UNKNOWN_VALUE)


def _exec(walk: Walk, call: Call, scene: ShellState) -> Value | None:
    words = _after_options(call, "-a")
    if not words:
        if call.writes or call.appends or call.reads:
            walk.record(call.with_words(":"), scene, EMPTY)
        return EMPTY
    return walk.call(replace(call, words=words), scene)


def _after_options(call: Call, *valued: str) -> tuple[Value, ...]:
    """Return the words after the options; those in `valued` take the next word as their value."""
    at = 1
    while at < len(call.words) and call.words[at].text.startswith("-"):
        at += 2 if call.words[at].text in valued else 1
    return call.words[at:]


def _read(_walk: Walk, call: Call, scene: ShellState) -> Value:
    args = [word.text for word in call.words[1:]]
    names, option, stdin = list[str](), "", call.stdin or UNKNOWN_VALUE
    for arg in args:
        if option:
            if option == "u":
                stdin = scene.files.get(scene.fds.get(arg, ""), UNKNOWN_VALUE)
            option = ""
        elif arg.startswith("-"):
            option = arg[-1] if arg[-1] in _READ_VALUED[call.words[0].text == "read"] else ""
        else:
            names.append(arg)
    first = Value(stdin.text.split("\n")[0], stdin.labels)
    if call.words[0].text != "read" and stdin.is_known:  # `mapfile`: a line, a field
        first = Value(stdin.text.strip("\n").replace("\n", BREAK), stdin.labels)
    for name in names or ["REPLY"]:
        scene.assign(name, (first if len(names) < 2 else Value(UNKNOWN, stdin.labels),))
    return EMPTY


_READ_VALUED = ("dnOsuCc", "dinNptu")  # of `mapfile`, of `read`


def _printf(walk: Walk, call: Call, scene: ShellState) -> Value | None:
    words = call.words[1:]
    if len(words) > 2 and words[0].text == "-v":
        scene.assign(words[1].text, (printf_output(words[2:]),))
        return EMPTY
    return None


def _trap(walk: Walk, call: Call, scene: ShellState) -> Value:
    words = [word for word in call.words[1:] if word.text != "--"]
    if len(words) > 1 and not words[0].text.startswith("-"):
        interpreters.run_code(walk, call, scene, words[0], scene)
    return EMPTY


def _set(walk: Walk, call: Call, scene: ShellState) -> Value | None:
    args = [word.text for word in call.words[1:]]
    if not args:
        return _print_variables(walk, call, scene)
    walk.record(call, scene, EMPTY)
    if "--" in args:
        walk.set_arguments(scene, call.words[args.index("--") + 2 :])
    elif not args[0].startswith(("-", "+")):
        walk.set_arguments(scene, call.words[1:])
    return EMPTY


def _shift(walk: Walk, _call: Call, scene: ShellState) -> Value:
    given = scene.variables.get("@")
    if given:
        rest = given[0].text.split("\ue001")[1:]
        walk.set_arguments(scene, tuple(Value(text, given[0].labels) for text in rest))
    return EMPTY


PERFORMERS: dict[str, Performer] = {
    **dict.fromkeys(("cd", "pushd", "popd", "chdir"), _cd),
    **dict.fromkeys(("export", "declare", "typeset", "local", "readonly"), _declare),
    **dict.fromkeys(("eval", "iex", "invoke-expression"), _eval),
    **dict.fromkeys(("source", "."), _source),
    **dict.fromkeys(("read", "mapfile", "readarray"), _read),
    "unset": _unset,
    "alias": _alias,
    "hash": _hash,
    "exec": _exec,
    "printf": _printf,
    "trap": _trap,
    "set": _set,
    "shift": _shift,
}
