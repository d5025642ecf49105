"""The wheel in an empty virtual environment: installed, upgraded under a running daemon, removed without a trace."""

import ensurepip
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from snell.records import decisions
from snell.store.sqlite import SqliteDatabase
from tests.faults.counts import Figure
from tests.process.machine import Machine
from tests.waiting import wait_until

pytestmark = pytest.mark.nightly

ROOT = Path(__file__).resolve().parent.parent.parent
BOUND = 100


class Shop(Machine):
    """A machine with an environment of its own; what Snell depends on is lent to it by ours."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.venv = folder / "venv"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", self.venv], check=True, timeout=BOUND)
        (site,) = self.venv.glob("lib/python3*/site-packages")
        (site / "lent.pth").write_text(f"{sysconfig.get_path('purelib')}\n", encoding="utf-8")
        self.hook_program = self.venv / "bin" / "snell-hook"

    def pip(self, *words: str | Path) -> None:
        (pip,) = Path(ensurepip.__file__).parent.glob("_bundled/pip-*.whl")
        command = [self.venv / "bin" / "python", "-m", "pip", "--disable-pip-version-check", "-q", *words]
        env = {**self.env(), "PYTHONPATH": str(pip), "PYTHONDONTWRITEBYTECODE": "1"}
        subprocess.run(command, env=env, check=True, capture_output=True, timeout=BOUND)

    def files(self) -> set[str]:
        return {str(path.relative_to(self.venv)) for path in self.venv.rglob("*")}


@pytest.fixture
def shop(tmp_path: Path):
    if not list(Path(ensurepip.__file__).parent.glob("_bundled/pip-*.whl")):
        pytest.skip("this Python has no pip to install with")
    shop = Shop(tmp_path)
    yield shop
    shop.stop()


def built(folder: Path, version: str) -> Path:
    """A wheel of this source under another version."""
    source = folder / f"source-{version}"
    source.mkdir()
    for name in ("src", "native"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("hatch_build.py", "README.md", "LICENSE", "NOTICE"):
        shutil.copy(ROOT / name, source / name)
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    text = re.sub(r'(?m)^version = ".*"$', f'version = "{version}"', text)
    (source / "pyproject.toml").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder / version)]
    subprocess.run(command, cwd=source, check=True, capture_output=True, timeout=BOUND)
    (wheel,) = (folder / version).glob("*.whl")
    return wheel


def test_a_wheel_is_installed_upgraded_and_removed_without_a_trace(shop: Shop, tmp_path: Path, figure: Figure) -> None:
    before = shop.files()
    shop.pip("install", "--no-index", "--no-deps", built(tmp_path, "1.0.0"))
    native = shop.hook_program.read_bytes()[:4] == b"\x7fELF"
    assert said(shop.hook_program, "--version") == "snell-hook 1.0.0\n"
    assert said(shop.venv / "bin" / "snell", "--version") == "snell 1.0.0\n"
    events = [shop.reason({"tool_use_id": "first", "tool_input": {"command": "bad"}})]
    first = shop.status()
    shop.pip("install", "--no-index", "--no-deps", "--upgrade", built(tmp_path, "1.1.0"))
    events += [shop.reason({"tool_use_id": f"then-{number}", "tool_input": {"command": "bad"}}) for number in range(20)]
    wait_until(lambda: first["pid"] not in shop.daemons())
    events.append(shop.reason({"tool_use_id": "last", "tool_input": {"command": "bad"}}))
    second = shop.status()
    shop.pip("uninstall", "--yes", "snell")
    left = shop.files() - before
    wait_until(lambda: not shop.daemons())
    database = SqliteDatabase(shop.home / "state" / "snell.db")
    stored = [row.tool_use_id for row in database.run(lambda tx: decisions.rows_after(tx, 0, 1000))]
    database.close()
    figure(test="shipping", native=native, versions=[first["version"], second["version"]], left_behind=sorted(left))
    assert (first["version"], second["version"], left) == ("1.0.0", "1.1.0", set())
    assert (set(events), stored) == ({"not that"}, ["first", *(f"then-{number}" for number in range(20)), "last"])
    assert native == (shutil.which("cc") is not None or shutil.which("gcc") is not None or "CC" in os.environ)


def said(*command: str | Path) -> str:
    return subprocess.run(command, capture_output=True, encoding="utf-8", check=True, timeout=BOUND).stdout
