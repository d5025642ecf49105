"""Programs that run a command on another machine or in a container."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from msgspec.structs import replace

from snell.packs.guard.names import names
from snell.packs.guard.shell.calls import Performer, program_of
from snell.packs.guard.shell.inits import is_init
from snell.packs.guard.shell.scene import CONTAINER, HOST, Scene
from snell.packs.guard.shell.values import INIT, SOMETHING, UNKNOWN, Value

if TYPE_CHECKING:
    from snell.packs.guard.shell.walk import Call, Walk

_SSH_VALUED = names("-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w -B")
_FLAGS = names(
    "-i -t -it -ti -d --rm -P --privileged --init --tty --interactive --detach -T --no-deps -dit -itd -q "
    "--quiet --read-only --no-TTY --build --oom-kill-disable -dt -di"
)


def _ssh(walk: Walk, call: Call, scene: Scene) -> Value:
    words = list(call.words[1:])
    while words and words[0].text.startswith("-"):
        option = words.pop(0).text
        if option in _SSH_VALUED and words:
            words.pop(0)
    walk.record(call, scene, SOMETHING)
    if len(words) > 1:
        inner = _remote(scene, HOST)
        return walk.line(" ".join(word.text for word in words[1:]), inner, call.stdin)
    if words and call.stdin is not None and call.stdin.is_known:
        return walk.line(call.stdin.text, _remote(scene, HOST))
    return Value(UNKNOWN, frozenset(("output ssh",)))


def _container(walk: Walk, call: Call, scene: Scene) -> Value | None:
    walk.record(call, scene, SOMETHING)
    words = list(call.words[1:])
    _drop_options(words)
    if words and words[0].text in ("compose", "container"):
        words.pop(0)
        _drop_options(words)
    if not words or words[0].text not in ("run", "exec"):
        return _printed([word.text for word in call.words])
    words.pop(0)
    _drop_options(words)
    if len(words) < 2:
        return SOMETHING
    rest = words[1:]
    if rest[0].text == "--":
        rest = rest[1:]
    if not rest:
        return SOMETHING
    outside = _outside(call.words, rest)
    if outside != rest:
        walk.call(replace(call, words=tuple(outside)), scene.fork())
    return walk.call(replace(call, words=tuple(rest)), _remote(scene, CONTAINER))


def _outside(words: tuple[Value, ...], command: list[Value]) -> list[Value]:
    """The command with the machine's own paths in the place of what is mounted from there."""
    mounts = [after.text.split(":") for word, after in itertools.pairwise(words) if word.text in ("-v", "--volume")]
    moved = list(command)
    for index, word in enumerate(moved):
        for source, target in ((mount[0], mount[1].rstrip("/")) for mount in mounts if len(mount) > 1):
            if target and (word.text == target or word.text.startswith(target + "/")):
                moved[index] = Value(source.rstrip("/") + word.text[len(target) :] or "/", word.labels)
    return moved


def _kubectl(walk: Walk, call: Call, scene: Scene) -> Value:
    walk.record(call, scene, SOMETHING)
    texts = [word.text for word in call.words]
    if "exec" in texts and "--" in texts:
        rest = call.words[texts.index("--") + 1 :]
        if rest:
            return walk.call(replace(call, words=rest), _remote(scene, CONTAINER))
    return _printed(texts)


def _printed(texts: list[str]) -> Value:
    program = program_of(texts[0])
    labels = {f"output {program}"} | ({INIT} if is_init(program, texts[1:]) else set())
    return Value(UNKNOWN, frozenset(labels))


def _drop_options(words: list[Value]) -> None:
    while words and words[0].text.startswith("-"):
        option = words.pop(0).text
        if option == "--":
            return
        if option not in _FLAGS and "=" not in option and words:
            words.pop(0)


def _remote(scene: Scene, where: str) -> Scene:
    inner = scene.fork()
    inner.where, inner.cwd, inner.project = where, "/workdir", "/workdir"
    inner.home = "/root" if where == CONTAINER else "/home/remote"
    inner.variables = {**inner.variables, "HOME": (Value(inner.home),), "PWD": (Value(inner.cwd),)}
    return inner


PERFORMERS: dict[str, Performer] = {
    "ssh": _ssh,
    "mosh": _ssh,
    "docker": _container,
    "podman": _container,
    "nerdctl": _container,
    "docker-compose": _container,
    "lxc": _container,
    "kubectl": _kubectl,
    "oc": _kubectl,
    "k": _kubectl,
}
