"""Memory on or off: who says so, where it holds, and what is said about it."""

from pathlib import Path

import pytest

from tests.process.test_setup_cli import Owner


@pytest.fixture
def owner(tmp_path: Path) -> Owner:
    made = Owner(tmp_path)
    (made.project / ".git").mkdir(exist_ok=True)
    return made


def test_a_project_says_no_for_itself(owner: Owner) -> None:
    owner.snell("setup", "claude-code", "--yes", "--memory")
    code, out, _ = owner.snell("setup", "claude-code", "--scope", "project", "--yes", "--no-memory")
    path = owner.project / ".snell" / "snell.toml"
    assert (code, f"memory: off after you approve it with `snell trust`, set in `{path}`" in out) == (0, True)
    assert "capturing is on in this folder" in owner.snell("memory", "stats")[1]
    assert "approved" in owner.on_terminal("trust", typed="y\n")
    assert "capturing is off in this folder" in owner.snell("memory", "stats")[1]
    shown = next(line for line in owner.snell("settings")[1].splitlines() if line.strip().startswith("pack "))
    assert ("'enabled': False" in shown or "false" in shown, str(path) in shown) == (True, True)


def test_a_yes_is_one_to_capturing(owner: Owner) -> None:
    path = owner.home / "config" / "snell.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("[pack.remember]\ncapture = false  # for now\n")
    code, out, _ = owner.snell("setup", "claude-code", "--yes", "--memory")
    assert (code, f"memory: on, set in `{path}`" in out, "still off" in out) == (0, True, False)
    assert path.read_text() == "[pack.remember]\nenabled = true\ncapture = true  # for now\n"
    assert "capturing is on in this folder" in owner.snell("memory", "stats")[1]


def test_who_says_no_to_a_yes_is_told(owner: Owner) -> None:
    owner.snell("setup", "claude-code", "--scope", "project", "--yes", "--no-memory")
    owner.on_terminal("trust", typed="y\n")
    out = owner.snell("setup", "claude-code", "--yes", "--memory")[1]
    no = owner.project / ".snell" / "snell.toml"
    assert f"memory: still off in `{owner.project}`, because `{no}` disables it" in out


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ("", ["only on this machine, sent nowhere"]),
        (
            '[pack.remember]\nembedding = "endpoint"\nendpoint = "http://me:geheim@vectors.example/v1"\n',
            ["texts and queries are sent to `vectors.example`"],
        ),
        (
            'database = "postgresql://me:geheim@team.example/snell"\n[pack.remember]\nshare = true\n',
            ["memories of projects with a remote are shared through `postgresql://", "team.example/snell`"],
        ),
    ],
)
def test_a_person_is_told_who_else_gets_it(owner: Owner, settings: str, told: list[str]) -> None:
    path = owner.home / "config" / "snell.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(settings)
    shown = " ".join(owner.on_terminal("setup", "claude-code", typed="y\nn\n").split())
    assert [each for each in told if each not in shown] == []
    assert ("sent nowhere" in shown, "geheim" in shown) == (not settings, False)
