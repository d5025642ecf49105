"""Walk through the commands that wrapper programs such as `sudo`, `env` and `watch` run."""

from msgspec.structs import replace

from snell.model.tool_names import name_set
from snell.packs.guard.known_names import names
from snell.packs.guard.known_values import PACKAGE, UNKNOWN, UNKNOWN_VALUE, Value
from snell.packs.guard.shell import builtins, program_code
from snell.packs.guard.shell.interpreters import SHELLS, run_code
from snell.packs.guard.shell.remote_commands import remote_state
from snell.packs.guard.shell.shell_state import Call, ShellState, Walk, program_of
from snell.shell.cursor import Budget
from snell.shell.programs import Program, is_known, program_row
from snell.shell.wrappers import Inner, find_inner
from snell.system.lazy_regex import lazy_regex

MOST_STARTS = 10  # words behind an unknown program that are tried as the beginning of a command

_VERSION = lazy_regex(r"(?<=[\w-])@[\w.^~*-]+$")  # `rimraf@5`
_RECORDED = frozenset(("nsenter", "su", "runuser", "script", "flock", "sg", "dokku"))  # that they are used counts, too
_PASSWORD_OPTIONS = frozenset(("-S", "-kS", "-Sk", "-SE", "-ES", "--stdin"))
_KEEPING = frozenset(("time", "command", "builtin"))  # the shell's own commands behind these act on the shell
_RUN_VERBS = name_set("run exec x do start command cmd shell sh with call invoke wrap execute send-text")


def unwrap(walk: Walk, call: Call, scene: ShellState) -> Value | None:
    """Go on with the command or the shell line that a wrapper is given; None where it is given none."""
    program = program_of(call.words[0].text)
    row = program_row(program)
    if row.lines:
        return _run_lines(walk, call, scene, row)
    texts = [word.text for word in call.words[1:]]
    if same := next((own for own in row.same_as if texts[: len(own.split())] == own.split()), ""):
        words = (*map(Value, row.same_as[same].split()), *call.words[1 + len(same.split()) :])
        return walk.call(replace(call, words=words), scene)
    inner = find_inner(row, texts)
    if inner is not None and row.dashes and not call.words[1 + inner.start].is_known:
        return None  # most often these are arguments of a task
    if inner is None:
        return _without_command(walk, call, scene, program, row)
    if program in _RECORDED or (program == "sudo" and not _PASSWORD_OPTIONS.isdisjoint(texts[: inner.start])):
        walk.record(call, scene, UNKNOWN_VALUE)
    state = _inner_state(row, inner, scene)
    if program in _KEEPING and program_of(call.words[1 + inner.start].text) in builtins.PERFORMERS:
        return walk.call(replace(call, words=call.words[1 + inner.start :]), scene)
    call = _keep_streams(walk, call, scene, row)
    if inner.code or inner.attached_code:
        return _run_code(walk, call, state, row, inner)
    return _run_command(walk, call, state, row, inner)


def _keep_streams(walk: Walk, call: Call, scene: ShellState, row: Program) -> Call:
    """Note the files of this machine that a command elsewhere is redirected to, and return the call without them."""
    if not row.where or not (call.writes or call.appends or call.reads or call.opens):
        return call
    walk.record(call.with_words(":"), scene, UNKNOWN_VALUE)
    return replace(call, writes=(), appends=(), reads=(), opens=())


def _inner_state(row: Program, inner: Inner, scene: ShellState) -> ShellState:
    state = remote_state(scene, row.where) if row.where else scene.fork()
    state.elevated = scene.elevated or row.elevates
    if inner.folder:
        state.cwd = scene.absolute(inner.folder)
    return state


def _run_code(walk: Walk, call: Call, state: ShellState, row: Program, inner: Inner) -> Value:
    rest = call.words[1 + inner.code :] if inner.code else call.words[2 + inner.start :]
    words = (
        [inner.attached_code, *(word.text for word in rest)] if inner.attached_code else [each.text for each in rest]
    )
    return walk.line(" ".join(words) if row.joins else words[0], state, call.stdin)


def _run_command(walk: Walk, call: Call, state: ShellState, row: Program, inner: Inner) -> Value:
    words = list(call.words[1 + inner.start :])
    if row.fetches:  # which package that is counts, too
        package = words[0].with_labels(PACKAGE)
        walk.record(replace(call, words=(*call.words[: 1 + inner.start], package)), state, UNKNOWN_VALUE)
        words[0] = Value(_VERSION.sub("", words[0].text), words[0].labels)
    if " " in words[0].text:  # `heroku run 'rm -rf tmp' -a shop`
        printed = walk.line(words[0].text, state, call.stdin)
        if len(words) == 1:
            return printed
    if row.verbs and words[0].text.endswith(".py"):
        words.insert(0, Value("python"))
    if program_of(words[0].text) in state.functions:
        state.functions = {}  # `command rm`, `env rm`: the program, not a function of that name
    env = (*call.env, *inner.assignments)
    for name, value in env:
        state.variables[name] = (Value(value),)
        state.exported.add(name)
    return walk.call(replace(call, words=tuple(words), env=env), state)


def _without_command(walk: Walk, call: Call, scene: ShellState, program: str, row: Program) -> Value | None:
    words = {word.text for word in call.words[1:]}
    if program == "env" and row.inert.isdisjoint(words):
        printed = Value(UNKNOWN, frozenset(("environment all variables",)))
        walk.record(call, scene, printed)
        return printed
    if program in ("su", "runuser") and call.stdin is not None:
        state = scene.fork()
        state.elevated = True
        return walk.call(replace(call, words=(Value("sh"),)), state)
    return None


def _run_lines(walk: Walk, call: Call, scene: ShellState, row: Program) -> Value | None:
    """Walk through the lines that a program is given: `watch 'CODE'`, `tmux ... 'CODE'`, and those that `at` reads."""
    words = [word.text for word in call.words[1:]]
    if "stdin" in row.lines and call.stdin is not None:
        run_code(walk, call, scene, call.stdin, scene.fork())
    for word in words if "each" in row.lines else ():
        if " " in word and not word.startswith("-"):
            walk.line(word, scene.fork())
    call = _keep_streams(walk, call, scene, row)
    inner = find_inner(replace(row, wraps=True), words) if "joined" in row.lines else None
    state = remote_state(scene, row.where) if row.where else scene.fork()
    return walk.line(" ".join(words[inner.start :]), state, call.stdin) if inner else None


def judge_tail(walk: Walk, call: Call, scene: ShellState) -> None:
    """Walk through words behind an unknown program that look like a command: it may run them."""
    if len(call.words) < 3:
        return
    before, own_names = "", 1  # `somewrap staging rm -rf x`: one name of its own may come first
    for at, word in enumerate(call.words[1:MOST_STARTS], 1):
        program = program_of(word.text)
        is_program = is_known(program) or program in SHELLS
        is_command = at + 1 < len(call.words) and is_program and (before == "--" or program not in _VERBS)
        may_be_value = before.startswith("-") and before != "--"
        if is_command:
            walk.call(replace(call, words=call.words[at:], stdin=None), scene.fork())
        elif " " in word.text and (before in _RUN_VERBS or before in _CODE_OPTIONS or _is_line(word.text, before)):
            _try_line(walk, call, scene, word.text)  # `somewrap run 'make all' --trace`
        if not may_be_value:
            own_names -= not (_OWN_WORD.match(word.text) or word.text in _RUN_VERBS)
            if is_command or own_names < 0 or word.text in _VERBS - _RUN_VERBS:
                return
        before = word.text


def _try_line(walk: Walk, call: Call, scene: ShellState, text: str) -> None:
    """Go on with a text that may be a shell line, or code in some other language."""
    inner = scene.fork()
    inner.budget = Budget()  # what is no shell line is no fault here
    walk.line(text, inner)
    program_code.follow(walk, call, inner, "code", text)


def _is_line(text: str, before: str) -> bool:
    """Tell whether a text begins like a shell line, and is not the value of an option, such as a message."""
    found = _LINE.match(text) if not before.startswith("-") or before == "--" else None
    return found is not None and is_known(found[1]) and found[1] not in _VERBS


_CODE_OPTIONS = name_set("-c -e --eval --exec --execute --command --cmd --run --script --shell")
_LINE = lazy_regex(r"\s*(?:sudo\s+)?([a-z][\w.-]*)\s+[-~/.$*]")
_OWN_WORD = lazy_regex(r"-|\d|\w+=|\.{0,2}/")  # of the program itself: an option, a number, a setting, a path
_VERBS = names("programs_named_like_verbs")
