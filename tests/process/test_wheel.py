"""The wheel brings `snell-hook`: a native program, or where there is no compiler a script that runs its Python twin."""

import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from snell.cli.main import COMMANDS
from snell.llm.embeddings.word_table import decode_table
from tests.process.shim_sandbox import BOUND, ROOT, build_hook
from tests.process.test_screens import PLUMBING

pytest_plugins = ("tests.process.shim_fixtures",)

SCRIPT = "snell-{version}.data/scripts/snell-hook"


def wheel(folder: Path, **variables: str) -> tuple[str, bytes]:
    """The wheel's tag, and the command that comes with it."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    env = {**os.environ, **variables}
    subprocess.run(command, cwd=ROOT, env=env, check=True, capture_output=True, timeout=BOUND)
    (path,) = folder.glob("*.whl")
    _, version, *tag = path.stem.split("-")
    with zipfile.ZipFile(path) as archive:
        return "-".join(tag), archive.read(SCRIPT.format(version=version))


@pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler")
@pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() not in {"x86_64", "aarch64"}, reason="elsewhere a C library is needed"
)
def test_a_native_one_starts_without_the_c_library_of_the_machine(tmp_path: Path) -> None:
    """With that library it starts half as fast. A function that `no-libc.c` lacks would bring it in unnoticed."""
    made_by = build_hook().compiled(tmp_path / "snell-hook", "0.0.0")
    assert "-nostdlib" in made_by or made_by[0] == "musl-gcc"


@pytest.mark.nightly
def test_a_native_one_is_for_this_platform_and_any_python(tmp_path: Path, shim_program: Path | None) -> None:
    if shim_program is None:
        pytest.skip("there is no C compiler")
    tag, program = wheel(tmp_path)
    machine = platform.machine()
    static = f"manylinux_2_17_{machine}.manylinux2014_{machine}.musllinux_1_1_{machine}"
    expected = static if sys.platform == "linux" else sysconfig.get_platform().replace("-", "_").replace(".", "_")
    assert tag == f"py3-none-{expected}"
    assert not program.startswith(b"#!")


@pytest.mark.nightly
def test_the_manual_page_comes_with_it_and_names_every_command(tmp_path: Path) -> None:
    wheel(tmp_path, SNELL_NO_SHIM="1")
    (path,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        (name,) = [each for each in archive.namelist() if each.endswith(".data/data/share/man/man1/snell.1")]
        page = archive.read(name).decode()
    shown = [each for each in COMMANDS if each not in PLUMBING]
    assert [each for each in shown if f"fBsnell {each}".replace("-", "\\-") not in page] == []


@pytest.mark.nightly
def test_the_table_of_words_comes_with_it_whole(tmp_path: Path) -> None:
    wheel(tmp_path, SNELL_NO_SHIM="1")
    (path,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        table = decode_table(archive.read("snell/llm/embeddings/word_table.bin"))
    assert len(table.stems) == table.header.words


@pytest.mark.nightly
@pytest.mark.skipif(sys.platform != "linux", reason="about the C libraries of Linux")
def test_one_that_needs_the_c_library_of_this_machine_is_for_machines_like_it(tmp_path: Path) -> None:
    assert build_hook().platforms(is_static=False) == f"linux_{platform.machine()}"


@pytest.mark.parametrize("variable", ["SNELL_NO_SHIM", "PATH"])
def test_without_a_compiler_there_is_a_script_for_every_platform(tmp_path: Path, variable: str) -> None:
    tag, program = wheel(tmp_path, **{variable: "1"})
    assert (tag, program.partition(b"\n")[0]) == ("py3-none-any", b"#!/bin/sh")


@pytest.mark.nightly
def test_the_script_finds_its_python_through_a_link(tmp_path: Path) -> None:
    _, program = wheel(tmp_path, SNELL_NO_SHIM="1")
    package = tmp_path / "lib" / "python3.99" / "site-packages"
    package.mkdir(parents=True)
    (package / "snell").symlink_to(ROOT / "src" / "snell")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python3").symlink_to(sys.executable)
    installed, link = tmp_path / "bin" / "snell-hook", tmp_path / "link"
    installed.write_bytes(program)
    installed.chmod(0o755)
    link.symlink_to(installed)
    called = [subprocess.run([path, "--version"], capture_output=True, timeout=BOUND) for path in (installed, link)]
    assert [done.stdout.split()[0] for done in called] == [b"snell-hook"] * 2


@pytest.mark.parametrize(("words", "code"), [(["--client", "x"], 0), (["--fail-closed"], 2)])
def test_a_script_without_python_follows_the_failure_policy(tmp_path: Path, words: list[str], code: int) -> None:
    _, program = wheel(tmp_path, SNELL_NO_SHIM="1")
    installed = tmp_path / "snell-hook"
    installed.write_bytes(program)
    installed.chmod(0o755)
    done = subprocess.run([installed, *words], capture_output=True, timeout=BOUND)
    message = f"snell-hook: `{tmp_path}`: there is no Python to decide with; install Snell again\n"
    assert (done.returncode, done.stdout, done.stderr.decode()) == (code, b"", message)


@pytest.mark.parametrize("end", ["exit 1", "exit 3", "kill -9 $$", ""])
def test_a_script_refuses_in_the_clients_form_when_python_is_broken(tmp_path: Path, end: str) -> None:
    _, program = wheel(tmp_path, SNELL_NO_SHIM="1")
    package = tmp_path / "lib" / "python3.99" / "site-packages" / "snell" / "daemon"
    package.mkdir(parents=True)
    (package / "shim.py").touch()
    (tmp_path / "bin").mkdir()
    for name, text in (("snell-hook", program.decode()), ("python3", f"#!/bin/sh\n{end}\n")):
        if name == "snell-hook" or end:
            (tmp_path / "bin" / name).write_text(text, encoding="utf-8")
            (tmp_path / "bin" / name).chmod(0o755)

    def said(*words: str) -> tuple[int, bytes]:
        command = [tmp_path / "bin" / "snell-hook", *words, "--fail-closed"]
        done = subprocess.run(command, input=b"{}", capture_output=True, timeout=BOUND)
        return done.returncode, done.stdout.partition(b":")[0]

    assert [said("--client", name, "--event", "PreToolUse") for name in ("claude-code", "cline", "antigravity")] == [
        (2, b""),
        (0, b'{"cancel"'),
        (0, b'{"decision"'),
    ]
    assert said("--client", "claude-code", "--event", "Stop") == (0, b"")
    assert said("--client", "claude-code", "--rewake")[0] != 2
    assert said("--client=cline", "--event=TaskComplete")[1] == b""
