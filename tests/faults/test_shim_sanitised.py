"""
`snell-hook` under AddressSanitizer and UndefinedBehaviorSanitizer, with replies and arguments that no daemon sends.

What is built here is native/snell-hook.c with the C library, which a sanitiser needs. The wheel's form has
native/no-libc.c in its place; `tests/process/test_shim.py` runs that one.
"""

import random
import shutil
import socket
import struct
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.faults.counts import Figure, times
from tests.process.shim_sandbox import VERSION, ShimSandbox, build_hook
from tests.seeds import draw_seed

FAST = ("-DSNELL_CONNECT_MS=300", "-DSNELL_SILENCE_MS=150", "-DSNELL_ANSWER_MS=600")
SANITISE = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer", "-g")
FOUND = 99  # the exit code of a finding
OPTIONS = {"ASAN_OPTIONS": f"exitcode={FOUND}:detect_leaks=0", "UBSAN_OPTIONS": f"exitcode={FOUND}:halt_on_error=1"}
EVENT = b'{"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}}'
CLIENTS = ("claude-code", "codex", "gemini", "cursor", "windsurf", "", "x" * 300, "claude-code\n")


@pytest.fixture(scope="module")
def sanitised(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("there is no C compiler")
    hook, folder = build_hook(), tmp_path_factory.mktemp("sanitised")
    (folder / "snell-forms.h").write_text(hook.forms_in_c(), encoding="utf-8")
    program = folder / "snell-hook"
    words = [compiler, str(hook.SHIM), *SANITISE, *FAST, "-I", str(folder), f'-DSNELL_VERSION="{VERSION}"']
    done = subprocess.run([*words, "-o", str(program)], capture_output=True, text=True, check=False)
    if "cannot find" in done.stderr:
        pytest.skip("the compiler has no sanitisers")
    assert done.returncode == 0, done.stderr
    return program


@pytest.fixture
def sandbox(tmp_path: Path, sanitised: Path) -> Iterator[ShimSandbox]:
    sandbox = ShimSandbox("native", tmp_path, sanitised)
    sandbox.script("python3", "#!/bin/sh\nexit 7\n")  # what decides when the daemon does not; here nothing has to
    yield sandbox
    sandbox.close()


@times("replies", 60, 10_000, 3600)
def test_no_reply_makes_it_read_or_write_where_it_must_not(sandbox: ShimSandbox, replies: int, figure: Figure) -> None:
    seed = draw_seed()
    chance = random.Random(seed)
    with _Daemon(sandbox) as daemon:
        for _ in range(replies):
            daemon.reply = _reply(chance)
            words = ["--client", chance.choice(CLIENTS), *(["--fail-closed"] if chance.random() < 0.3 else [])]
            stdin = _mutated(chance, EVENT) if chance.random() < 0.3 else EVENT
            done = sandbox.call(*[word.encode().replace(b"\0", b"") for word in words], stdin=stdin, env=OPTIONS)
            assert done.exit_code != FOUND, (daemon.reply[:200], words, done.stderr.decode()[:3000])
            assert done.exit_code >= 0, (daemon.reply[:200], words, done.exit_code)
    figure(test="snell-hook", fault="replies under ASan and UBSan", replies=replies, findings=0, seed=seed)


def test_a_finding_would_be_seen(sandbox: ShimSandbox, tmp_path: Path) -> None:
    """The same flags, on a program with a mistake."""
    source = tmp_path / "wrong.c"
    source.write_text("int main(int c, char **v) { char a[4]; return a[c * 4 + (v[0] != 0)]; }\n", encoding="utf-8")
    program = tmp_path / "wrong"
    subprocess.run(["gcc", *SANITISE, str(source), "-o", str(program)], check=True, capture_output=True)
    assert subprocess.run([program], env=OPTIONS, capture_output=True, check=False).returncode == FOUND


class _Daemon:
    """It reads what it is sent, and answers whatever it is told to."""

    def __init__(self, sandbox: ShimSandbox) -> None:
        sandbox.run.mkdir(mode=0o700, exist_ok=True)
        self.reply = b""
        self._listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listening.bind(str(sandbox.socket))
        self._listening.listen(16)
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> "_Daemon":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._thread.join(10)

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            with connection, suppress(OSError):
                connection.settimeout(0.5)
                head = connection.recv(8, socket.MSG_WAITALL)
                left = struct.unpack("<4sI", head)[1] if len(head) == 8 else 0
                while left > 0 and (part := connection.recv(min(left, 65536))):
                    left -= len(part)
                connection.sendall(self.reply)


def _reply(chance: random.Random) -> bytes:
    """A reply: most of them are nearly right."""
    return chance.choice(_KINDS)(chance)


def _right(chance: random.Random) -> bytes:
    out, err = (chance.randbytes(chance.choice((0, 1, 40, 5_000, 70_000))) for _ in range(2))
    return (
        b"." * chance.choice((0, 0, 1, 500))
        + struct.pack("<4sIII", b"SNR1", chance.choice((0, 1, 2, 255)), len(out), len(err))
        + out
        + err
    )


def _wrong_lengths(chance: random.Random) -> bytes:
    numbers = (0, 1, 7, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFFFFF0, 1 << 24, 17 << 20)
    lengths = [chance.choice(numbers) for _ in range(3)]
    return struct.pack("<4sIII", b"SNR1", *lengths) + chance.randbytes(chance.choice((0, 3, 300)))


def _mutated(chance: random.Random, data: bytes) -> bytes:
    changed = bytearray(data or b"x")
    for _ in range(chance.randrange(1, 6)):
        changed[chance.randrange(len(changed))] = chance.randrange(256)
    return bytes(changed[: chance.randrange(1, len(changed) + 1)] if chance.random() < 0.5 else changed)


_KINDS: tuple[Callable[[random.Random], bytes], ...] = (
    _right,
    _wrong_lengths,
    lambda chance: _mutated(chance, _right(chance)),
    lambda chance: _right(chance)[: chance.randrange(20)],
    lambda chance: chance.randbytes(chance.randrange(200)),
    lambda chance: _right(chance) + chance.randbytes(50),
    lambda chance: b"." * chance.randrange(70_000),
)
