"""Programs that run another program: peel them off and go on with what they run."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from snell.packs.guard.known_values import UNKNOWN, UNKNOWN_VALUE, Value
from snell.packs.guard.shell.interpreters import run_code
from snell.packs.guard.shell.remote_commands import PERFORMERS as ELSEWHERE
from snell.packs.guard.shell.repeated_commands import PERFORMERS as SWEEPS
from snell.packs.guard.shell.shell_state import Performer, ShellState, program_of
from snell.shell.wrappers import WRAPPERS
from snell.system.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from snell.packs.guard.shell.walk import Call, Walk


class Shape(Struct, frozen=True):
    """How the words of a wrapper are laid out: options that take a word, words of its own, sub-commands in front."""

    valued: frozenset[str] = frozenset()
    operands: int = 0
    leads: tuple[str, ...] = ()  # the sub-command it needs, one of these
    assigns: bool = False
    elevates: bool = False


def _options(text: str) -> frozenset[str]:
    return frozenset(text.split())


_RUN = ("run",)
SHAPES: dict[str, Shape] = {
    "caffeinate": Shape(_options("-t -w")),
    "strace": Shape(_options("-o -e -p -s -u -E -P -a -b -S -O -I")),
    "ltrace": Shape(_options("-o -e -p -s -u -l -n")),
    "chrt": Shape(_options("-T -P -D -p"), operands=1),
    "taskset": Shape(_options("-p"), operands=1),
    "prlimit": Shape(_options("-p --pid")),
    "unshare": Shape(_options("-S -G -R -w")),
    "nsenter": Shape(_options("-t -S -G -F")),
    "chroot": Shape(operands=1),
    "fakeroot": Shape(_options("-l -f -i -s -b")),
    "setarch": Shape(operands=1),
    "linux64": Shape(),
    "unbuffer": Shape(),
    "torsocks": Shape(),
    "proxychains": Shape(_options("-f")),
    "proxychains4": Shape(_options("-f")),
    "xvfb-run": Shape(_options("-n -s -e -f -p -w --server-args --server-num")),
    "dbus-run-session": Shape(),
    "systemd-run": Shape(_options("-p -u --unit --property -E --uid --gid -M -H")),
    "pkexec": Shape(_options("--user"), elevates=True),
    "gosu": Shape(operands=1),
    "su-exec": Shape(operands=1),
    "busybox": Shape(),
    "toybox": Shape(),
    "firejail": Shape(),
    "bwrap": Shape(_options("--bind --ro-bind --dev --proc --tmpfs --chdir --setenv --unsetenv --dir --symlink")),
    "entr": Shape(),
    "chronic": Shape(),
    "dbus-launch": Shape(),
    "watchexec": Shape(_options("-w -e -i -s -d --watch --exts --ignore --signal --delay-run")),
    "reflex": Shape(_options("-r -g -R -G")),
    "sem": Shape(_options("-j --id")),
    "ts-run": Shape(),
    "memusage": Shape(),
    "heaptrack": Shape(),
    "cross-env": Shape(assigns=True),
    "dotenv": Shape(_options("-e -f -c")),
    "winpty": Shape(),
    "arch": Shape(),
    "catchsegv": Shape(),
    "valgrind": Shape(),
    "perf": Shape(_options("-e -o -F -p"), leads=("stat", "record", "trace")),
    "mise": Shape(_options("-C -E -j"), leads=("x", "exec", "watch")),
    "rtx": Shape(leads=("x", "exec")),
    "asdf": Shape(leads=("exec",)),
    "direnv": Shape(operands=1, leads=("exec",)),
    "uv": Shape(
        _options("-p --python --with --extra --group --env-file --project --directory --package -C"),
        leads=_RUN,
    ),
    "poetry": Shape(_options("-C --directory -P --project"), leads=_RUN),
    "pipenv": Shape(leads=_RUN),
    "pdm": Shape(_options("-p"), leads=_RUN),
    "rye": Shape(leads=_RUN),
    "hatch": Shape(_options("-e --env"), leads=_RUN),
    "pixi": Shape(_options("-e --environment"), leads=_RUN),
    "conda": Shape(_options("-n --name -p --prefix"), leads=_RUN),
    "bundle": Shape(leads=("exec",)),
    "pnpm": Shape(_options("-C --dir --filter -F"), leads=("exec", "dlx")),
    "npx": Shape(_options("-p --package")),
    "bunx": Shape(),
    "pnpx": Shape(_options("-p --package")),
    "npm": Shape(_options("-p --package -w --workspace --prefix -C"), leads=("exec", "x")),
    "yarn": Shape(_options("-p --package --cwd"), leads=("dlx", "exec")),
    "bun": Shape(_options("-p --package --cwd"), leads=("x",)),
    "uvx": Shape(_options("--from --with -p --python --index --index-url")),
    "pipx": Shape(_options("--spec --python --pip-args --index-url"), leads=_RUN),
    "shx": Shape(),
    "op": Shape(_options("--env-file"), leads=_RUN),
    "doppler": Shape(_options("-p -c --project --config"), leads=_RUN),
    "infisical": Shape(leads=_RUN),
    "chamber": Shape(operands=1, leads=("exec",)),
    "aws-vault": Shape(operands=1, leads=("exec",)),
    "go-task": Shape(leads=()),
    "not": Shape(),
    **dict.fromkeys(
        (
            *("ld.so", "ld-linux.so.2", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1", "ld-linux-armhf.so.3"),
            *("ld-musl-x86_64.so.1", "ld-musl-aarch64.so.1", "ld-linux-riscv64-lp64d.so.1", "ld64.so.2"),
        ),
        Shape(_options("--library-path --preload --audit --argv0 --inhibit-rpath --glibc-hwcaps-prepend")),
    ),
}
# They fetch what they run, so which package that is counts, too.
_FETCHERS = frozenset(("npx", "pnpx", "bunx", "npm", "pnpm", "yarn", "bun", "uvx", "pipx"))


def _unwrap(walk: Walk, call: Call, scene: ShellState) -> Value | None:
    program = program_of(call.words[0].text)
    shape = SHAPES.get(program) or _from_kit(program)
    words = list(call.words[1:])
    if program == "uv" and [word.text for word in words[:2]] == ["tool", "run"]:
        words.pop(0)  # what `uvx` is short for
    if shape.leads and not _take_lead(words, shape):
        return None
    if program == "nsenter":
        walk.record(call, scene, UNKNOWN_VALUE)
    env = list(call.env)
    inert = WRAPPERS[program].inert if program in WRAPPERS else frozenset()
    while words:
        text = words[0].text
        if text in inert:
            return None
        if text == "--":
            words.pop(0)
            break
        if program == "env" and text in ("-S", "--split-string"):
            return walk.line(" ".join(word.text for word in words[1:]), scene, call.stdin)
        if program == "env" and text.startswith(("-S", "--split-string=")):
            code = text.removeprefix("--split-string=").removeprefix("-S")
            return walk.line(" ".join((code, *(word.text for word in words[1:]))), scene, call.stdin)
        if shape.assigns and re.match(r"[A-Za-z_]\w*=", text):
            name, _, value = words.pop(0).text.partition("=")
            env.append((name, value))
        elif text.startswith("-") and len(text) > 1:
            scene = _change_folder(words, scene)
            _drop_option(words, shape)
        elif text == "-" and program == "env":
            words.pop(0)
        else:
            break
    while shape.assigns and words and re.match(r"[A-Za-z_]\w*=", words[0].text):
        name, _, value = words.pop(0).text.partition("=")
        env.append((name, value))
    del words[: shape.operands]
    if words and program in _FETCHERS:
        walk.record(replace(call, words=call.words[: 1 + len(call.words) - len(words)]), scene, UNKNOWN_VALUE)
        words[0] = Value(_VERSION.sub("", words[0].text), words[0].labels)
    if words and shape.leads == _RUN and words[0].text.endswith(".py"):
        words.insert(0, Value("python"))
    if not words:
        return None if program != "env" else _bare_env(walk, call, scene)
    return _go_on(walk, replace(call, words=tuple(words), env=tuple(env)), scene, elevates=shape.elevates)


_VERSION = lazy_regex(r"(?<=[\w-])@[\w.^~*-]+$")  # `rimraf@5`


def _change_folder(words: list[Value], scene: ShellState) -> ShellState:
    """`env -C DIR`, `sudo --chdir=DIR`: where the command runs."""
    name, _, target = words[0].text.partition("=")
    if name in ("-C", "--chdir", "-D") and not target and len(words) > 1:
        target = words[1].text
    if name not in ("-C", "--chdir") or not target:
        return scene
    inner = scene.fork()
    inner.cwd = scene.absolute(target)
    return inner


def _take_lead(words: list[Value], shape: Shape) -> bool:
    while words and words[0].text.startswith("-"):
        _drop_option(words, shape)
    if words and words[0].text in shape.leads:
        words.pop(0)
        return True
    return False


def _drop_option(words: list[Value], shape: Shape) -> None:
    option = words.pop(0).text
    takes = option in shape.valued
    if not takes and not option.startswith("--") and len(option) > 2:
        takes = f"-{option[-1]}" in shape.valued and not any(f"-{letter}" in shape.valued for letter in option[1:-1])
    if takes and words:
        words.pop(0)


def _from_kit(program: str) -> Shape:
    wrapper = WRAPPERS[program]
    valued = {f"-{letter}" for letter in wrapper.valued} | {
        f"--{name}" for name in wrapper.long_valued - wrapper.long_flags
    }
    return Shape(frozenset(valued), wrapper.operands, (), wrapper.assigns, program in ("sudo", "doas"))


def _bare_env(walk: Walk, call: Call, scene: ShellState) -> Value:
    printed = Value(UNKNOWN, frozenset(("environment all variables",)))
    walk.record(call, scene, printed)
    return printed


def _go_on(walk: Walk, call: Call, scene: ShellState, *, elevates: bool) -> Value:
    inner = scene.fork()
    inner.elevated = scene.elevated or elevates
    if program_of(call.words[0].text) in inner.functions:
        inner.functions = {}  # `command rm`, `env rm`: the program, whatever functions are called
    for name, value in call.env:
        inner.variables[name] = (Value(value),)
        inner.exported.add(name)
    return walk.call(call, inner)


def _code_option(walk: Walk, call: Call, scene: ShellState) -> Value | None:
    """`su -c CODE`, `script -c CODE`, `flock FILE -c CODE`, and `flock FILE COMMAND`."""
    program = program_of(call.words[0].text)
    words = call.words[1:]
    inner = scene.fork()
    inner.elevated = scene.elevated or program in ("su", "runuser")
    for index, word in enumerate(words[:-1]):
        if re.fullmatch(r"-\w*c|--command", word.text):
            walk.record(call, scene, UNKNOWN_VALUE)
            return walk.line(words[index + 1].text, inner, call.stdin)
        if word.text == "--command":
            break
    for word in words:
        if word.text.startswith("--command="):
            return walk.line(word.text.partition("=")[2], inner, call.stdin)
    texts = [word.text for word in words]
    if program == "runuser" and "--" in texts:
        return walk.call(replace(call, words=tuple(words[texts.index("--") + 1 :])), inner)
    rest = list(words)
    while rest and rest[0].text.startswith("-"):
        option = rest.pop(0).text
        if option in ("-w", "-E", "--timeout", "--wait", "--conflict-exit-code") and rest:
            rest.pop(0)
    if program == "flock" and len(rest) > 1:
        return walk.call(replace(call, words=tuple(rest[1:])), inner)
    if program in ("su", "runuser") and call.stdin is not None:
        return walk.call(replace(call, words=(Value("sh"),)), inner)
    return None


def _texts(walk: Walk, call: Call, scene: ShellState) -> Value | None:
    """`watch 'CODE'`, `hyperfine 'CODE'`, `concurrently 'CODE' 'CODE'`, `tmux ... 'CODE'`, `at`, `batch`."""
    program = program_of(call.words[0].text)
    words = [word.text for word in call.words[1:]]
    if program in ("at", "batch"):
        if call.stdin is not None:
            run_code(walk, call, scene, call.stdin, scene.fork())
        return None
    if program == "watch":
        rest = list(words)
        while rest and rest[0].startswith("-"):
            option = rest.pop(0)
            if option in ("-n", "--interval", "-q") and rest:
                rest.pop(0)
        return walk.line(" ".join(rest), scene.fork(), call.stdin) if rest else None
    if program == "screen" and any(re.match(r"-\w*m", word) for word in words):
        rest = list(itertools.dropwhile(lambda word: word.startswith("-"), words))
        named = any(re.fullmatch(r"-\w*S", word) for word in words)
        return walk.line(" ".join(rest[named:]), scene.fork())
    for word in words:
        if " " in word and not word.startswith("-"):
            walk.line(word, scene.fork())
    return None


PERFORMERS: dict[str, Performer] = {
    **dict.fromkeys(SHAPES, _unwrap),
    **dict.fromkeys((name for name in WRAPPERS if name not in ("xargs", "exec")), _unwrap),
    **dict.fromkeys(("su", "runuser", "script", "flock"), _code_option),
    **dict.fromkeys(("watch", "hyperfine", "concurrently", "tmux", "screen", "at", "batch"), _texts),
    **SWEEPS,
    **ELSEWHERE,
}
