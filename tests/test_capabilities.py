"""
The core does not grow: a new capability is a folder of its own, which can be deleted without harm to the rest.

`tests/size_allowances.toml` has the lines of the core, and of each folder that stands alone.
"""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "snell"
SIZES = tomllib.loads((ROOT / "tests" / "size_allowances.toml").read_text(encoding="utf-8"))
CAPABILITIES: dict[str, int] = SIZES["capabilities"]
IMPORT_ALL = """
import importlib, pkgutil, snell
for each in pkgutil.walk_packages(snell.__path__, "snell."):
    if not each.name.startswith(("snell.embed.adapters.", "snell.__main__")):
        importlib.import_module(each.name)
print("imported")
"""


def _lines(folder: Path) -> int:
    return sum(len(path.read_bytes().splitlines()) for path in folder.rglob("*.py"))


def test_the_core_does_not_grow():
    alone = sum(_lines(SOURCE / name) for name in CAPABILITIES)
    assert _lines(SOURCE) - alone <= SIZES["core"]["lines"]


@pytest.mark.parametrize("name", CAPABILITIES)
def test_a_capability_keeps_to_its_stated_size(name: str):
    assert 0 < _lines(SOURCE / name) <= CAPABILITIES[name]


pytestmark = pytest.mark.timeout(600)  # it starts Python without cached bytecode


@pytest.fixture(scope="module")
def without_capabilities(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A copy of the source in which every folder that stands alone is deleted; returns the environment that uses it."""
    copy = tmp_path_factory.mktemp("without")
    shutil.copytree(ROOT / "src", copy / "src", ignore=shutil.ignore_patterns("__pycache__"))
    for name in CAPABILITIES:
        shutil.rmtree(copy / "src" / "snell" / name)
    home = str(copy / "home")
    return {**os.environ, "PYTHONPATH": str(copy / "src"), "SNELL_HOME": home, "HOME": home}


def _run(env: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, *words], env=env, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def test_the_rest_works_without_the_folders_that_stand_alone(without_capabilities: dict[str, str]):
    where = _run(without_capabilities, "-c", "import snell; print(snell.__file__)").stdout
    assert without_capabilities["PYTHONPATH"] in where
    assert _run(without_capabilities, "-c", IMPORT_ALL).stdout == "imported\n"
    fired = _run(without_capabilities, "-m", "snell", "fire", "--command", "rm -rf /", "--json")
    assert '"deny"' in fired.stdout


def test_the_tests_of_the_rest_pass_without_the_folders_that_stand_alone(without_capabilities: dict[str, str]):
    tests = ("tests/unit/engine", "tests/unit/sdk")
    words = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *tests)
    assert " passed" in _run(without_capabilities, *words).stdout
