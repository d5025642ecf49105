"""The documentation says what the program does: generated pages are fresh, and what the README shows works."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from snell.doors.cli import COMMANDS
from snell.model.catalogue import CATALOGUE

ROOT = Path(__file__).resolve().parent.parent


def test_generated_pages_are_fresh():
    done = subprocess.run(
        [sys.executable, ROOT / "docs/generate.py", "--check"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_every_event_and_every_command_has_its_place_in_the_reference():
    events = (ROOT / "docs/reference/events.md").read_text(encoding="utf-8")
    commands = (ROOT / "docs/reference/commands.md").read_text(encoding="utf-8")
    assert [name for name in CATALOGUE if f"| `{name}` |" not in events] == []
    assert [name for name in COMMANDS if f"## snell {name}\n" not in commands] == []


def test_every_file_that_the_tour_names_is_there():
    tour = (ROOT / "docs/tour.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:doors|runtime|engine|machine|clients|model|settings|tests)/[\w/.]+\.py)`", tour)
    assert len(named) > 10
    missing = [name for name in named if not (ROOT / "src/snell" / name).exists() and not (ROOT / name).exists()]
    assert missing == []


@pytest.mark.process
def test_the_hook_of_the_readme_can_be_written_tested_approved_fired_and_explained(tmp_path):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (hook,) = re.findall(r"```python\n(.*?)```", readme, re.DOTALL)
    (cases,) = re.findall(r"```toml\n(.*?)```", readme, re.DOTALL)
    project = tmp_path / "project"
    project.mkdir()
    snell(project, "new", "hook", "no_force_push")
    (project / ".snell/hooks/no_force_push.py").write_text(hook, encoding="utf-8")
    (project / ".snell/hooks/no_force_push.cases.toml").write_text(cases, encoding="utf-8")

    assert snell(project, "test").splitlines()[-1] == "2 passed, 0 failed"

    fire = ("fire", "PreToolUse", "--tool", "Bash", "--input", '{"command": "git push --force"}')
    assert snell(project, *fire).startswith("no opinion")  # nobody approved it yet
    digest = re.search(r"--hash (\w+)", snell(project, "trust", code=1))
    assert digest
    snell(project, "trust", "--hash", digest[1])
    said = "deny: force-push overwrites other people's work. Instead: use --force-with-lease on your own branch"
    assert snell(project, *fire).splitlines()[0] == said
    assert said in readme
    assert "no_force_push/no_force_push" in snell(project, "why")


def snell(project: Path, *words: str, code: int = 0) -> str:
    """Run the command as a person in this project would; returns what it printed."""
    env = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    done = subprocess.run(
        [sys.executable, "-m", "snell", *words],
        cwd=project,
        env={**env, "HOME": str(project.parent), "SNELL_HOME": str(project.parent / "home")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == code, (done.stdout, done.stderr)
    return done.stdout
