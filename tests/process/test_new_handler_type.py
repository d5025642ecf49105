"""A handler type is one file: in a copy of Snell with one line in a table, or in another distribution."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import snell

MODULE = """
from typing import ClassVar

from snell.model.decision import Outcome
from snell.model.effects import Note
from snell.model.hooks import Handler
from snell.settings.handler_types import HandlerType
from snell.settings.schema import Key


class Diary(Handler, frozen=True):
    kind: ClassVar[str] = "diary"

    page: str
    colour: str = "blue"


TYPE = HandlerType(
    name="diary",
    help="a line in a diary",
    settings=Diary,
    keys=(
        Key("page", "text", "the file to write to", is_required=True),
        Key("colour", "text", "the ink", default="blue", choices=("blue", "red")),
    ),
    default_timeout=7.0,
    recommended_timeout=20.0,
    aliases=("journal_page",),
    identified_by=("page",),
    waits_for_network=True,
)


def run(hook, event, context):
    with open(hook.handler.page, "a", encoding="utf-8") as file:
        file.write(f"{event.name} {hook.handler.colour} {hook.time_limit:g}\\n")
    return Outcome(effects=(Note(f"noted in {hook.handler.colour}"),))
"""


class Copy:
    """A home whose `snell` knows one handler type more."""

    def __init__(self, folder: Path, path: Path) -> None:
        self.folder, self.path = folder, path
        self.page = folder / "page.txt"
        (folder / "home/config").mkdir(parents=True)

    def snell(self, *words: str) -> subprocess.CompletedProcess[str]:
        env = {**os.environ, "HOME": str(self.folder / "home"), "SNELL_HOME": str(self.folder / "home")}
        return subprocess.run(
            [sys.executable, "-m", "snell", *words],
            env={**env, "PYTHONPATH": str(self.path)},
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def settings(self, text: str) -> dict:
        (self.folder / "home/config/snell.toml").write_text(text, encoding="utf-8")
        return json.loads(self.snell("settings", "--json").stdout)

    @staticmethod
    def problems(shown: dict) -> list[str]:
        return [f"{each['line']}: {each['message']}; {each['advice']}" for each in shown["problems"]]


def in_snell(folder: Path) -> Path:
    """One new file in `handlers/`, and one line in its table."""
    path = folder / "copy"
    shutil.copytree(Path(snell.__file__).parent, path / "snell", ignore=shutil.ignore_patterns("__pycache__"))
    (path / "snell/handlers/diary.py").write_text(MODULE, encoding="utf-8")
    table = path / "snell/handlers/__init__.py"
    text = table.read_text(encoding="utf-8")
    line = '    "diary": "snell.handlers.diary",\n'
    table.write_text(text.replace('    "python":', f'{line}    "python":'), encoding="utf-8")
    return path


def in_another_distribution(folder: Path, module: str = MODULE) -> Path:
    """One module, and its entry point."""
    path = folder / "site"
    (path / "acme_diary-1.0.dist-info").mkdir(parents=True)
    (path / "acme_diary.py").write_text(module, encoding="utf-8")
    (path / "acme_diary-1.0.dist-info/METADATA").write_text("Name: acme-diary\nVersion: 1.0\n", encoding="utf-8")
    entry = "[snell.handlers]\ndiary = acme_diary\n"
    (path / "acme_diary-1.0.dist-info/entry_points.txt").write_text(entry, encoding="utf-8")
    return path


@pytest.fixture(params=[in_snell, in_another_distribution], ids=lambda each: each.__name__)
def copy(request, tmp_path):
    return Copy(tmp_path, request.param(tmp_path))


def test_a_settings_file_with_the_new_type_loads_and_an_event_runs_it(copy):
    table = f'[[hooks]]\nevent = "PreToolUse"\nid = "a"\n[hooks.diary]\npage = "{copy.page}"\n'
    flat = f'[[hooks]]\nevent = "PreToolUse"\nid = "b"\npage = "{copy.page}"\ncolour = "red"\ntimeout = 3\n'
    named = f'[[hooks]]\nevent = "Stop"\ntype = "journalPage"\npage = "{copy.page}"\n'
    shown = copy.settings(f"{table}\n{flat}\n{named}")
    assert shown["problems"] == []
    hooks = {hook["id"]: (hook["handler"], hook["timeout"]) for hook in shown["hooks"]}
    assert (hooks["a"], hooks["b"]) == (("diary", 7.0), ("diary", 3.0))
    assert len([name for name in hooks if name.startswith("Stop-diary-")]) == 1
    done = copy.snell("fire", "PreToolUse", "--command", "ls", "--json")
    assert sorted(copy.page.read_text(encoding="utf-8").splitlines()) == ["PreToolUse blue 7", "PreToolUse red 3"]
    assert "noted in blue" in done.stdout


def test_mistakes_in_entries_of_the_new_type_are_explained(copy):
    entry = '[[hooks]]\nevent = "PreToolUse"\n'
    shown = copy.settings(
        f"{entry}diary = {{}}\n"
        f'{entry}page = "x"\ncolour = "rad"\n'
        f'{entry}type = "dairy"\n'
        f'{entry}page = "x"\nurl = "https://x"\n'
        f'{entry}page = "x"\ntimeout = 30\n'
    )
    assert copy.problems(shown) == [
        "1: the diary handler has no `page`; add it: the file to write to",
        "7: `colour` cannot be `rad`; did you mean `red`? use one of blue, red",
        "10: `dairy` is not a type of handler; did you mean `diary`?",
        "11: the hook has two handlers: webhook and diary; keep one of them",
        "18: `timeout` lets the agent wait 30 s for a diary hook; 20 s or less is recommended",
    ]


def test_the_json_schema_has_the_new_type(copy):
    schema = json.loads(copy.snell("settings", "--schema").stdout)
    assert schema["$defs"]["diary"]["properties"]["colour"]["enum"] == ["blue", "red"]
    assert {"diary", "journal_page"} <= schema["$defs"]["entry"]["properties"].keys()


@pytest.mark.parametrize(
    ("module", "why"),
    [
        ("import nowhere_to_be_found\n", "ModuleNotFoundError: No module named 'nowhere_to_be_found'"),
        (MODULE.replace('identified_by=("page",)', 'identified_by=("url",)'), "`url` already means a webhook handler"),
        (MODULE.replace('Key("page"', 'Key("timeout"'), "`timeout` is already a key of every hook"),
        (MODULE.replace("TYPE =", "KIND ="), "has no attribute 'TYPE'"),
        (MODULE.replace('name="diary"', 'name="log"'), "its entry point is `diary`, and its type is `log`"),
    ],
)
def test_a_type_that_cannot_be_loaded_is_a_problem_of_its_own_entries_only(tmp_path, module, why):
    copy = Copy(tmp_path, in_another_distribution(tmp_path, module))
    entry = '[[hooks]]\nevent = "PreToolUse"\n'
    shown = copy.settings(f'{entry}id = "good"\ncommand = "true"\n{entry}type = "diary"\npage = "x"\n')
    assert "good" in {hook["id"] for hook in shown["hooks"]}
    [problem] = copy.problems(shown)
    assert problem.startswith("7: the handler type `diary` cannot be loaded: ")
    assert why in problem
    assert problem.endswith("; update or remove the package that has it")
