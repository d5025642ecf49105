"""`python3 dev.py test` on a small project: what it says of unsteady tests and of processes left behind."""

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.environment import COMPILED_IN

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

ROOT = Path(__file__).parents[2]
UNSTEADY = """
from pathlib import Path
import pytest

def test_steady():
    pass

@pytest.mark.parametrize("number", range(NUMBER))
def test_unsteady(number):
    seen = Path(f"seen-{number}")
    is_first = not seen.exists()
    seen.touch()
    assert not is_first
"""
LEAVES_A_PROCESS = """
import subprocess

def test_leaves_a_process():
    subprocess.run(["sh", "-c", "sleep 61 > /dev/null 2>&1 &"])
"""
# One worker, and only the plugin that dev.py needs: the rest costs seconds and is not the subject.
LIGHT = {
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    "PYTEST_PLUGINS": "xdist.plugin",
    "PYTEST_XDIST_AUTO_NUM_WORKERS": "1",
}
PYPROJECT = """
[tool.pytest.ini_options]
markers = ["process", "alone", "nightly", "live"]
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of dev.py and its scripts, with this environment as its own and no tests yet."""
    for name in ("dev.py", "hatch_build.py"):
        shutil.copy(ROOT / name, tmp_path)
    for name in ("scripts", "requirements", "native"):
        shutil.copytree(ROOT / name, tmp_path / name)
    for text in COMPILED_IN:
        copy = tmp_path / text.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(text, copy)
    (tmp_path / "pyproject.toml").write_text(PYPROJECT, encoding="utf-8")
    (tmp_path / ".venv").mkdir()
    for name in ("bin", "lib"):
        (tmp_path / ".venv" / name).symlink_to(Path(sys.prefix, name))
    shutil.copy(Path(sys.prefix, "pyvenv.cfg"), tmp_path / ".venv")
    stamp = "import json; from scripts.environment import STAMP, wanted; STAMP.write_text(json.dumps(wanted()))"
    subprocess.run([sys.executable, "-c", stamp], cwd=tmp_path, check=True)
    return tmp_path


def run_tests(tree: Path, text: str, **env: str) -> tuple[int, str]:
    (tree / "tests").mkdir(exist_ok=True)
    (tree / "tests" / "test_it.py").write_text(text, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "dev.py", "test"],
        cwd=tree,
        env={name: value for name, value in os.environ.items() if name != "CI" and "PYTEST" not in name} | LIGHT | env,
        capture_output=True,
        text=True,
        timeout=100,
    )
    return done.returncode, done.stdout + done.stderr


def unsteady_tests(number: int) -> str:
    return UNSTEADY.replace("NUMBER", str(number))


@pytest.mark.parametrize(
    ("number", "env", "code", "note"),
    [
        (4, {}, 0, ""),
        (3, {"CI": "true"}, 0, "dev.py: CI is set; up to 3 such tests do not fail the run, but they need a repair\n"),
        (4, {"CI": "true"}, 1, "dev.py: CI is set, and more than 3 such tests fail the run: "),
    ],
)
def test_tests_that_pass_only_when_run_again_are_named_and_more_than_three_fail_the_run_in_ci(
    tree: Path, number: int, env: dict[str, str], code: int, note: str
) -> None:
    found, text = run_tests(tree, unsteady_tests(number), **env)
    names = "".join(f"dev.py:   tests/test_it.py::test_unsteady[{each}]\n" for each in range(number))
    assert f"dev.py: {number} passed only when run again alone:\n{names}{note}" in text
    assert ("CI is set" in text) == bool(env)
    assert found == code, text


def test_a_process_that_outlives_the_tests_is_named_ended_and_fails_the_run(tree: Path) -> None:
    code, text = run_tests(tree, LEAVES_A_PROCESS)
    assert code == 1, text
    [pid] = re.findall(r"dev.py:   (\d+): sleep 61", text)
    assert not Path(f"/proc/{pid}").exists()


def test_a_failure_stays_a_failure_and_hides_nothing_else(tree: Path) -> None:
    wrong = "import pytest\n@pytest.mark.process\ndef test_wrong(): assert False\n"
    code, text = run_tests(tree, wrong + unsteady_tests(1) + LEAVES_A_PROCESS)
    assert code == 1
    assert re.findall("passed only when run again.*\n.*", text) == [
        "passed only when run again alone:\ndev.py:   tests/test_it.py::test_unsteady[0]"
    ]
    assert re.findall(r"dev.py:   (\d+): sleep 61", text)


def test_a_test_that_compares_times_runs_after_the_others_and_its_failure_fails_the_run(tree: Path) -> None:
    note = "from pathlib import Path\nimport pytest\n"
    alone = "@pytest.mark.alone\ndef test_times(): assert Path('others').exists() and Path('quiet').exists()\n"
    others = "def test_others(): Path('others').touch()\n"
    failed, text = run_tests(tree, note + alone + others)
    (tree / "quiet").touch()
    passed, _ = run_tests(tree, note + alone + others)
    assert (failed, passed) == (1, 0), text


FINISHES_WORK = """
import os, signal, sys
def finish(*_):
    os.write(1, b"ends what it began\\n")
    os._exit(CODE)
signal.signal(signal.SIGINT, finish)
os.write(1, b"is ready\\n")
signal.pause()
"""
WAITS = """
import os, sys
from pathlib import Path
from scripts.leftovers import run_and_reap
wait = os.wait
os.wait = lambda: (os.write(1, b"waits\\n"), wait())[1]
sys.exit(run_and_reap([sys.executable, "-c", sys.argv[1]], Path("."), {}))
"""


@pytest.mark.parametrize(("code", "expected"), [(0, 0), (2, -signal.SIGINT)])
def test_control_c_waits_for_the_command_and_ends_the_run_if_it_ended_the_command(code: int, expected: int) -> None:
    words = [sys.executable, "-c", WAITS, FINISHES_WORK.replace("CODE", str(code))]
    with subprocess.Popen(
        words, cwd=ROOT, start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as run:
        assert run.stdout
        assert {run.stdout.readline() for _ in range(2)} == {b"waits\n", b"is ready\n"}
        os.killpg(run.pid, signal.SIGINT)
        assert b"ends what it began\n" in run.stdout.read()
        assert run.wait(60) == expected
