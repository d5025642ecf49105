"""Programs that run a command on another machine or in a container."""

import itertools
import re

from msgspec.structs import replace

from snell.model.tool_names import name_set
from snell.packs.guard.known_names import names
from snell.packs.guard.known_values import INIT, NETWORK, SECRET, UNKNOWN, UNKNOWN_VALUE, Value, is_unset_variable
from snell.packs.guard.output_kinds import prints_secret, prints_shell_code
from snell.packs.guard.shell.shell_state import CONTAINER, HOST, Call, Performer, ShellState, Walk, program_of
from snell.shell.arguments import arguments_of
from snell.system.lazy_regex import lazy_regex

_SSH_VALUED = name_set("-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w -B -M")
_FLAGS = names("container_flags")


def _ssh(walk: Walk, call: Call, scene: ShellState) -> Value:
    words = list(call.words[1:])
    while words and words[0].text.startswith("-"):
        option = words.pop(0).text
        if option in _SSH_VALUED and words:
            words.pop(0)
    if len(words) > 1 and words[1].text == "--":
        words.pop(1)
    walk.record(call, scene, UNKNOWN_VALUE, code=_unknown_command(words))
    if len(words) > 1:
        inner = remote_state(scene, HOST)
        printed = walk.line(" ".join(word.text for word in words[1:]), inner, call.stdin)
        return printed.with_labels(f"{NETWORK} {words[0].text}") if UNKNOWN in printed.text else printed
    if words and call.stdin is not None and call.stdin.is_known:
        return walk.line(call.stdin.text, remote_state(scene, HOST))
    return Value(UNKNOWN, frozenset(("output ssh", f"{NETWORK} ssh")))


def _unknown_command(words: list[Value]) -> Value | None:
    """Return the unknown command of `ssh host "$X"`; None for `ssh $OPTS $HOST`, which has no command."""
    if len(words) < 2 or _OPTIONS.search(words[0].detail("variable")) or not all(map(is_unset_variable, words[1:])):
        return None
    return words[1]


_OPTIONS = lazy_regex(r"OPT|ARG|FLAG|PARAM", re.IGNORECASE)


def _container(walk: Walk, call: Call, scene: ShellState) -> Value | None:
    walk.record(call, scene, UNKNOWN_VALUE)
    words = list(call.words[1:])
    _drop_options(words)
    if words and words[0].text in ("compose", "container"):
        words.pop(0)
        _drop_options(words)
    if not words or words[0].text not in ("run", "exec"):
        return _output_of([word.text for word in call.words])
    words.pop(0)
    _drop_options(words)
    if len(words) < 2:
        return UNKNOWN_VALUE
    rest = words[1:]
    if rest[0].text == "--":
        rest = rest[1:]
    if not rest:
        return UNKNOWN_VALUE
    outside = _outside(call.words, rest)
    if outside != rest:
        walk.call(replace(call, words=tuple(outside)), scene.fork())
    elif program_of(rest[0].text) in ("rm", "find", "shred", "chmod", "chown", "sh", "bash", "ash"):
        _in_mounted_folder(walk, replace(call, words=tuple(rest)), scene, [word.text for word in call.words])
    return walk.call(replace(call, words=tuple(rest)), remote_state(scene, CONTAINER))


def _in_mounted_folder(walk: Walk, call: Call, scene: ShellState, texts: list[str]) -> None:
    """Walk through a command that starts in a mounted folder of this machine: `-v ~:/x -w /x`."""
    where = next((after for option, after in itertools.pairwise(texts) if option in ("-w", "--workdir")), "")
    for source, target in _mounts(texts):
        if where.rstrip("/") == target:
            inner = scene.fork()
            inner.cwd = scene.absolute(source)
            walk.call(call, inner)


def _outside(words: tuple[Value, ...], command: list[Value]) -> list[Value]:
    """Return the command with this machine's paths in place of those where they are mounted."""
    moved = list(command)
    for source, target in _mounts([word.text for word in words]):
        inside = re.compile(rf"(?<![\w/.-]){re.escape(target)}(?=[/\s'\";)*|&]|$)")
        moved = [Value(_put(inside, source, word.text), word.labels) for word in moved]
    return moved


def _put(inside: re.Pattern[str], source: str, text: str) -> str:
    return inside.sub(lambda _found: source.rstrip("/"), text) or "/"


def _mounts(texts: list[str]) -> list[tuple[str, str]]:
    """Return folder outside and folder inside, of `-v A:B` and `--mount type=bind,src=A,dst=B`."""
    pairs = list[tuple[str, str]]()
    for name, _, attached in (text.partition("=") for text in texts):
        if name == "--volume" and ":" in attached:
            pairs.append((attached.split(":")[0], attached.split(":")[1]))
    for option, value in itertools.pairwise(texts):
        if option in ("-v", "--volume") and ":" in value:
            pairs.append((value.split(":")[0], value.split(":")[1]))
    for text in texts:
        fields = dict(field.partition("=")[::2] for field in text.removeprefix("--mount=").split(","))
        source = fields.get("src") or fields.get("source", "")
        target = fields.get("dst") or fields.get("target") or fields.get("destination", "")
        if source and target:
            pairs.append((source, target))
    return [
        (source, target.rstrip("/"))
        for source, target in pairs
        if source.startswith(("/", "~", ".")) and target.rstrip("/")
    ]


def _kubectl(walk: Walk, call: Call, scene: ShellState) -> Value:
    walk.record(call, scene, UNKNOWN_VALUE)
    texts = [word.text for word in call.words]
    rest = call.words[texts.index("--") + 1 :] if {"exec", "run", "debug"} & set(texts) and "--" in texts else ()
    operands = arguments_of("kubectl", texts[1:]).operands
    if not rest and operands[:1] == ("exec",) and operands[2:]:
        rest = call.words[texts.index(operands[1]) + 1 :]  # after the name of the pod
    if rest:
        return walk.call(replace(call, words=rest), remote_state(scene, CONTAINER))
    return _output_of(texts)


_LISTS = lazy_regex(r"(?:(?:container|image|volume) )?(?:ps|ls|list|images)\b.*(?:\s-\w*q\w*|--quiet)")


def _output_of(texts: list[str]) -> Value:
    program = program_of(texts[0])
    labels = {f"output {program}"} | ({INIT} if prints_shell_code(program, texts[1:]) else set())
    if _LISTS.match(" ".join(texts[1:])) and not any(re.match(r"-f|--filter|name=", text) for text in texts):
        labels.add("every one")
    if prints_secret(program, tuple(texts[1:])):
        labels.add(f"{SECRET} {program}")
    return Value(UNKNOWN, frozenset(labels))


def _drop_options(words: list[Value]) -> None:
    while words and words[0].text.startswith("-"):
        option = words.pop(0).text
        if option == "--":
            return
        if option not in _FLAGS and "=" not in option and words:
            words.pop(0)


def remote_state(scene: ShellState, where: str) -> ShellState:
    """Return the state of a shell on another machine or in a container."""
    inner = scene.fork()
    inner.where, inner.cwd, inner.project = where, "/workdir", "/workdir"
    inner.home = "/root" if where == CONTAINER else "/home/remote"
    inner.variables = {**inner.variables, "HOME": (Value(inner.home),), "PWD": (Value(inner.cwd),)}
    return inner


PERFORMERS: dict[str, Performer] = {
    **dict.fromkeys(("ssh", "mosh", "autossh"), _ssh),
    **dict.fromkeys(("docker", "podman", "nerdctl", "docker-compose", "lxc"), _container),
    **dict.fromkeys(("kubectl", "oc", "k"), _kubectl),
}
