"""A new client is one new file and one line in the registry: added to a copy of the tree, and used there."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

ROOT = Path(__file__).resolve().parents[2]
CHECKS = (
    "tests/golden",
    "tests/contracts/test_clients.py",
    "tests/contracts/test_client_answers.py",
    "tests/unit/setup",
    "tests/unit/packs/test_notes_in_clients.py",
    "tests/process/test_missing_shim.py",
)
TABLE = """
title = "Moonbase"
about = "Moonbase: an agent with a file format of its own."

[quirks]
invented = ["it calls its shell a crater"]

[protocol]
event_fields = ["phase"]
events = { before_action = "PreToolUse" }
fields = { tool_name = ["action.kind"], tool_input = ["action.input"] }
tools = { crater = { name = "Bash", keys = { line = "command" } } }
answers = { PreToolUse = { deny = { abort = true, why = "<reason>" } } }

[install]
base = "~/.moonbase"
folders = ["{base}"]
format = "own file"
hooks = { user = "{base}/probes.json" }
events = ["before_action"]
session_start = []
after = ["relaunch Moonbase"]

[install.form]
name = "moonbase"
layout = "files"
entry = { run = "<command>", phase = "<event>", limit = "<seconds>" }
files = { "" = { probes = "<hook_list>" } }
"""


class Checkout:
    """A copy of the tree, whose Snell is the one that its commands run."""

    def __init__(self, folder: Path) -> None:
        self.tree, self.home = folder / "tree", folder / "home"
        self.home.mkdir()
        skipped = shutil.ignore_patterns("__pycache__", ".hypothesis")
        for name in ("src", "tests", "docs"):
            shutil.copytree(ROOT / name, self.tree / name, ignore=skipped)
        for path in ROOT.iterdir():
            if path.is_file():
                shutil.copy(path, self.tree)

    def run(self, *words: str, stdin: str = "") -> str:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "SNELL", "XDG"))}
        env = {**kept, "HOME": str(self.home), "PYTHONPATH": str(self.tree / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(
            [sys.executable, *words], cwd=self.tree, env=env, input=stdin, capture_output=True, text=True, timeout=100
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def snell(self, *words: str, stdin: str = "") -> str:
        return self.run("-m", "snell", *words, stdin=stdin)


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def test_a_client_is_one_file_and_one_line(checkout: Checkout) -> None:
    clients = checkout.tree / "src/snell/clients"
    (clients / "moonbase.toml").write_text(TABLE, encoding="utf-8")
    registry = (clients / "__init__.py").read_text(encoding="utf-8")
    line = '    "moonbase": ("moon-base", "luna"),\n    "opencode"'
    (clients / "__init__.py").write_text(registry.replace('    "opencode"', line), encoding="utf-8")

    (row,) = [row for row in json.loads(checkout.snell("clients", "--json")) if row["client"] == "moonbase"]
    assert (row["title"], row["tier"]) == ("Moonbase", 2)

    call = {"phase": "before_action", "action": {"kind": "crater", "input": {"line": "rm -rf /"}}}
    for name in ("moonbase", "luna", "Moon Base"):
        answer = json.loads(checkout.snell("hook", "--client", name, stdin=json.dumps(call)))
        assert (answer["abort"], "deletes the whole disk" in answer["why"]) == (True, True)

    shown = checkout.snell("setup", "luna", "--print")
    assert f"{checkout.home}/.moonbase/probes.json" in shown
    assert "--client moonbase --event before_action" in shown
    assert '"limit": 600' in shown

    checkout.run("docs/generate.py")
    assert "## Moonbase" in (checkout.tree / "docs/reference/clients.md").read_text(encoding="utf-8")
    assert "\nmoonbase luna\t" in (checkout.tree / "src/snell/daemon/shim_forms.txt").read_text(encoding="utf-8")


def test_a_client_that_was_just_scaffolded_passes_the_tests_of_the_project(checkout: Checkout) -> None:
    registry = checkout.tree / "src/snell/clients/__init__.py"
    before = registry.read_text(encoding="utf-8")
    said = checkout.snell("new", "client", "my_agent")
    assert "wrote src/snell/clients/my_agent.toml\nwrote tests/golden/my_agent/PreToolUse.json\n" in said
    added = '    "kiro": ("amazonq", "amazon-q", "q", "kiro-cli"),\n    "my_agent": (),\n'
    assert registry.read_text(encoding="utf-8") == before.replace(added.splitlines(keepends=True)[0], added)
    chosen = "my_agent or golden_files_name_the_same_clients or tiers"
    result = checkout.run("-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider", "-k", chosen, *CHECKS)
    assert int(re.search(r"(\d+) passed", result)[1]) > 40
