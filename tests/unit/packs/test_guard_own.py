"""The guard and the program it is: its files, its environment, the ways to remove it, and its processes."""

import os
import tomllib
from pathlib import Path

import pytest

import snell
from snell.packs.guard.judge import judge
from snell.packs.guard.rules import RULES
from snell.packs.guard.snell_paths import SnellPaths
from snell.packs.guard.snell_program import Program, running_program

ROWS = tomllib.loads(Path(__file__).with_name("own_rows.toml").read_text(encoding="utf-8"))
HOME, PROJECT = "/home/user", "/home/user/project"
ENVIRONMENT = f"{PROJECT}/.venv"
SITE = f"{ENVIRONMENT}/lib/python3.12/site-packages"
INSTALLED = Program(
    folders=(f"{SITE}/snell/", f"{SITE}/", "/usr/lib/python3.12/", "/opt/pipx/venvs/snell/", "/opt/uv/snell/"),
    environment=(f"{ENVIRONMENT}/",),
    files=(f"{ENVIRONMENT}/bin/python", f"{ENVIRONMENT}/bin/snell", f"{ENVIRONMENT}/pyvenv.cfg"),
)
OWN = SnellPaths(
    folders=(f"{HOME}/.config/snell", f"{HOME}/.local/state/snell"),
    env=(("PIPX_HOME", "/opt/pipx"), ("UV_TOOL_DIR", "/opt/uv")),
    program=INSTALLED,
)


def own_findings(line: str, snell_paths: SnellPaths = OWN, project: str = PROJECT) -> list[str]:
    """The verdicts of the rules that protect Snell itself."""
    for name, text in (("{env}", ENVIRONMENT), ("{site}", SITE), ("{pid}", str(os.getpid()))):
        line = line.replace(name, text)
    found = judge(line, project, HOME, project, snell_paths=snell_paths).findings
    return [each.verdict for each in found if RULES[each.rule].family in ("self", "system")]


@pytest.mark.parametrize("line", ROWS["dangerous"])
def test_what_changes_removes_or_ends_the_program_is_denied(line: str):
    assert "deny" in own_findings(line)


@pytest.mark.parametrize("line", ROWS["harmless"])
def test_reading_copying_and_ordinary_work_are_free(line: str):
    assert own_findings(line) == []


@pytest.mark.parametrize(
    "line",
    [
        "vim {site}/snell/engine/decide.py",
        "black {site}/snell",
        "pipx upgrade-all",
        "pip install -U msgspec",
        "{env}/bin/pip install --force-reinstall 'msgspec>=0.1'",
        "pip uninstall -y $PACKAGE",
    ],
)
def test_what_may_change_the_program_is_asked_about(line: str):
    assert own_findings(line) == ["ask"]


CLONE = "/home/user/snell"
EDITABLE = Program(
    folders=(f"{CLONE}/src/snell/", f"{CLONE}/.venv/lib/"), environment=(f"{CLONE}/.venv/",), clone=(f"{CLONE}/",)
)


@pytest.mark.parametrize(
    "line",
    [
        f"sed -i s/a/b/ {CLONE}/src/snell/packs/guard/guard.py",
        f"git -C {CLONE} checkout .",
        f"cd {CLONE} && git apply /tmp/x.patch",
        f"rm -rf {CLONE}/.venv",
        f"echo > {CLONE}/.venv/lib/python3.12/site-packages/x.pth",
    ],
)
def test_the_clone_of_an_editable_install_is_changed_by_sessions_that_work_on_it_alone(line: str):
    own = SnellPaths(program=EDITABLE)
    assert [own_findings(line, own, project) for project in (CLONE, PROJECT)] == [[], ["deny"]]


def test_reading_the_clone_is_free_for_every_session():
    lines = (f"git -C {CLONE} log", f"cat {CLONE}/src/snell/__init__.py", f"git -C {CLONE} diff")
    assert [own_findings(line, SnellPaths(program=EDITABLE)) for line in lines] == [[], [], []]


def test_who_works_on_a_clone_is_asked_before_it_replaces_an_installed_snell(tmp_path: Path):
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "snell"\n', encoding="utf-8")
    found = [own_findings(line, project=str(tmp_path)) for line in ("pip install -e .", "pip install '.[dev]'")]
    assert found == [["ask"], ["ask"]]
    assert own_findings("/tmp/other/bin/pip install -e .", project=str(tmp_path)) == []
    assert own_findings(f"pip install -e {tmp_path}") == ["deny"]


def test_an_environment_that_is_not_known_is_asked_about_where_what_it_needs_goes():
    lines = ("pip uninstall -y msgspec", "pip uninstall -y $(pip freeze)", "pip install msgspec==0.1")
    elsewhere = ("pip uninstall -y $PACKAGE", "pip uninstall -y -r old.txt", "uv pip sync requirements.txt")
    assert [own_findings(line, project="/home/user/other") for line in lines] == [["ask"], ["ask"], []]
    assert [own_findings(line, project="/home/user/other") for line in elsewhere] == [[], [], []]
    assert own_findings(f"source {ENVIRONMENT}/bin/activate && {lines[0]}", project="/home/user/other") == ["deny"]


def test_a_link_to_the_shim_is_guarded_under_any_name(tmp_path: Path):
    (tmp_path / "snell-hook").write_text("", encoding="utf-8")
    (tmp_path / "guard").symlink_to("snell-hook")
    (tmp_path / "other").symlink_to("/bin/true")
    lines = ("rm guard", "ln -sf /bin/true guard", "echo > guard", "rm other", "cat guard")
    found = [set(own_findings(line, project=str(tmp_path))) for line in lines]
    assert found == [{"deny"}, {"deny"}, {"deny"}, set(), set()]


def test_a_folder_that_holds_links_to_it_is_guarded(tmp_path: Path):
    (tmp_path / "local/bin").mkdir(parents=True)
    (tmp_path / "local/bin/snell-hook").symlink_to(f"{ENVIRONMENT}/bin/snell-hook")
    lines = (
        "rm -rf local/bin",
        "rm -rf local",
        "rm -f local/bin/*",
        "mv local/bin old",
        "rm -rf other",
        "ls local/bin",
    )
    found = [set(own_findings(line, project=str(tmp_path))) for line in lines]
    assert found == [{"deny"}] * 4 + [set(), set()]


def test_a_home_behind_a_link_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    running_program.cache_clear()
    (tmp_path / "really").mkdir()
    (tmp_path / "home").symlink_to("really")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    program = running_program(str(tmp_path / "really/tools/snell"))
    running_program.cache_clear()
    assert [program.holds(f"{tmp_path}/{name}/tools/snell/x") for name in ("home", "really")] == [True, True]


def test_every_package_of_snell_is_guarded_below_a_folder_that_is_only_known_at_run_time():
    packages = [file.parent.name for file in Path(snell.__file__).parent.glob("*/__init__.py")]
    assert "packs" in packages
    assert [name for name in packages if "deny" not in own_findings(f"rm -r $X/snell/{name}/x.py")] == []
