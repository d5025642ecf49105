"""T07, T20: whatever stands in the place of our files, there is an answer, and nothing of the user's is thrown away."""

import os
import random
import shutil
import socket
import time
from collections.abc import Callable
from pathlib import Path

from tests.faults.counts import Figure, times
from tests.process.machine import Machine
from tests.seeds import draw_seed

pytest_plugins = ("tests.process.machine_fixtures",)

Fault = Callable[[Path, random.Random], None]


def noise(path: Path, chosen: random.Random) -> None:
    contents(path)
    path.write_bytes(chosen.randbytes(chosen.choice((1, 16, 100, 4096, 100_000))))


def empty(path: Path, chosen: random.Random) -> None:
    contents(path)
    path.write_bytes(b"")


def cut(path: Path, chosen: random.Random) -> None:
    data = contents(path)
    path.write_bytes(data[: chosen.randrange(len(data) + 1)])


def zeroed_head(path: Path, chosen: random.Random) -> None:
    data = contents(path)
    path.write_bytes(bytes(100) + data[100:])


def bit(path: Path, chosen: random.Random) -> None:
    data = bytearray(contents(path))
    if data:
        data[chosen.randrange(len(data))] ^= 1 << chosen.randrange(8)
    path.write_bytes(data)


def directory(path: Path, chosen: random.Random) -> None:
    remove(path)
    path.mkdir()


def fifo(path: Path, chosen: random.Random) -> None:
    remove(path)
    os.mkfifo(path)


def dead_socket(path: Path, chosen: random.Random) -> None:
    remove(path)
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))


def link_to_nothing(path: Path, chosen: random.Random) -> None:
    remove(path)
    path.symlink_to("/nonexistent/place")


def link_to_a_file(path: Path, chosen: random.Random) -> None:
    remove(path)
    other = path.with_name("precious")
    other.write_text("precious", encoding="utf-8")
    path.symlink_to(other)


def no_permission(path: Path, chosen: random.Random) -> None:
    path.touch()
    path.chmod(0)


def open_to_all(path: Path, chosen: random.Random) -> None:
    path.touch()
    path.chmod(0o666)


FAULTS: tuple[Fault, ...] = (
    noise,
    empty,
    cut,
    zeroed_head,
    bit,
    directory,
    fifo,
    dead_socket,
    link_to_nothing,
    link_to_a_file,
    no_permission,
    open_to_all,
)
PASSING = ("run/snell.sock", "run/start.lock", "run/daemon.lock", "run/handed-over", "run/gave-up")
STORE = ("state/snell.db", "state/snell.db-wal", "state/snell.db-shm", "state/snell.db.lock")
SETTINGS = ("config/snell.toml", "config/other/pack.toml", "config/other/rules.py")


@times("corruptions", 12, 200)
def test_with_anything_in_the_place_of_our_files_there_is_an_answer(
    machine: Machine, tmp_path: Path, corruptions: int, figure: Figure
) -> None:
    """Three at a time: something of the user's settings, of the store, and of what is made anew at every start."""
    seed = draw_seed()
    chosen = random.Random(seed)
    shutil.copytree(machine.config / "pack", machine.config / "other")
    machine.write("snell.toml", 'packs = ["other"]\n')
    guard = tmp_path / "policy.toml"
    guard.write_text('[[hooks]]\nevent="PreToolUse"\ncommand="echo not that >&2; exit 2"\n', encoding="utf-8")
    machine.hook()
    machine.kill()
    machine.socket.unlink()
    shutil.copytree(machine.home, tmp_path / "whole")
    pairs = [[(place, fault) for place in places for fault in FAULTS] for places in (SETTINGS, STORE, PASSING)]
    for each in pairs:
        chosen.shuffle(each)
    wrong, slowest = [], (0.0, "")
    for number in range(corruptions // 3):
        shutil.rmtree(machine.home)
        shutil.copytree(tmp_path / "whole", machine.home)
        trio = [each[number % len(each)] for each in pairs]
        for place, fault in trio:
            fault(machine.home / place, chosen)
        told = ", ".join(f"{fault.__name__} for {place}" for place, fault in trio)
        began = time.monotonic()
        code, out, err = machine.hook(SNELL_POLICY=str(guard))
        slowest = max(slowest, (round(time.monotonic() - began, 2), told))
        if not is_right(code, out, err):
            wrong.append((told, code, out[:200], err[:400]))
        wrong += [(told, "written to") for place, _ in trio if is_lost(machine.home / place)]
        machine.kill()
    counted = {"corruptions": 3 * (corruptions // 3), "wrong": len(wrong), "slowest": slowest}
    figure(test="T20", fault="stale and corrupt artefacts", **counted, seed=seed)
    assert wrong == []
    assert slowest[0] < 20


def is_right(code: int, out: str, err: str) -> bool:
    """A denial, since that guard is whole and the policy names it; and no word that only we could understand."""
    denied = code == 0 and "not that" in out
    return denied and "Traceback" not in err and "bug in Snell" not in err


def is_lost(place: Path) -> bool:
    precious = place.with_name("precious")
    return precious.exists() and precious.read_text(encoding="utf-8") != "precious"


def contents(path: Path) -> bytes:
    """What a file holds; what is none makes room for one."""
    if path.is_file():
        return path.read_bytes()
    remove(path)
    return b"x" * 100


def remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        for each in path.iterdir():
            remove(each)
        path.rmdir()
    else:
        path.unlink(missing_ok=True)
