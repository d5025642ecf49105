"""A virtual environment with the wheel of Snell and nothing but what Snell cannot do without."""

import re
import shutil
import subprocess
import sys
import zipfile
from importlib.metadata import distribution, requires
from pathlib import Path

from packaging.requirements import Requirement

from tests.process.shim_sandbox import BOUND, ROOT


class Environment:
    """The programs of one environment, and a way to put further packages into it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True, timeout=BOUND)
        (self.packages,) = folder.glob("lib/python*/site-packages")
        for name in core_requirements():
            self.add(name)
        self._add_wheel()

    @property
    def python(self) -> Path:
        return self.folder / "bin/python3"

    @property
    def hook(self) -> Path:
        return self.folder / "bin/snell-hook"

    def snell(self, *words: str, cwd: Path, env: dict[str, str]) -> tuple[int, str, str]:
        """Exit code, stdout and stderr of one command."""
        command = [self.python, "-m", "snell", *words]
        done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=BOUND, check=False)
        return done.returncode, done.stdout, done.stderr

    def add(self, name: str) -> None:
        """Copy an installed distribution into this environment."""
        for file in distribution(name).files or ():
            if ".." not in file.parts:  # a program in bin
                target = self.packages / file
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file.locate(), target)

    def add_with_dependencies(self, name: str) -> None:
        seen: set[str] = set()
        waiting = [name]
        while waiting:
            if (each := waiting.pop()) not in seen:
                seen.add(each)
                self.add(each)
                waiting += [found.name for text in requires(each) or () if is_wanted(found := Requirement(text))]

    def _add_wheel(self) -> None:
        made = self.folder / "wheel"
        command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(made)]
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=BOUND)
        (path,) = made.glob("*.whl")
        with zipfile.ZipFile(path) as archive:
            archive.extractall(self.packages)
        (program,) = self.packages.glob("snell-*.data/scripts/snell-hook")
        shutil.copy(program, self.hook)
        self.hook.chmod(0o755)


def core_requirements() -> list[str]:
    return [re.split(r"[^\w.-]", text)[0] for text in requires("snell") or () if "extra ==" not in text]


def is_wanted(requirement: Requirement) -> bool:
    return requirement.marker is None or requirement.marker.evaluate({"extra": ""})
