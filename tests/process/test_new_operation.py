"""An operation is one function: in a copy of Snell, a new file and one line in a table are found by every caller."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import snell

ROOT = Path(__file__).parents[2]
MODULE = '''
from typing import Annotated

from snell.operations import results
from snell.operations.declaration import Answer, Call, about, operation


@operation("greeting.say", verb=True, tool="say_hello", gives=results.Counted)
def say(
    call: Call,
    name: Annotated[str, about("whom to greet", word=True)],
    times: Annotated[int, about("how often", ge=1, le=9)] = 1,
) -> Answer:
    """Greet a person."""
    return {"memories": times, "greeting": " ".join([f"hello {name}"] * times)}
'''
LINE = '    "greeting": Topic(("greeting",), "greet people", "snell greeting say Ann"),\n'
ASK = """
import json, sys
from snell.operations import call_for
from snell.operations.mcp.tools import find_tool, input_schema
from snell.operations.rpc import Rpc
from snell.runtime.app import Runtime

with Runtime.embed() as runtime:
    rpc = Rpc({}, lambda name: call_for(name, runtime))
    answers = []
    for line in sys.argv[1:]:
        rpc.call(line.encode(), answers.append)
print(json.dumps([*map(json.loads, answers), input_schema(find_tool("say_hello"))]))
"""


class Copy:
    """A copy of Snell with one operation more."""

    def __init__(self, folder: Path) -> None:
        self.path, self.home = folder / "copy", folder / "home"
        shutil.copytree(Path(snell.__file__).parent, self.path / "snell", ignore=shutil.ignore_patterns("__pycache__"))
        (self.path / "snell/operations/greeting.py").write_text(MODULE, encoding="utf-8")
        table = self.path / "snell/operations/__init__.py"
        text = table.read_text(encoding="utf-8")
        table.write_text(text.replace('    "guard": Topic(', f'{LINE}    "guard": Topic('), encoding="utf-8")

    def python(self, *words: str) -> str:
        env = {**os.environ, "HOME": str(self.home), "SNELL_HOME": str(self.home)}
        done = subprocess.run(
            [sys.executable, *words],
            env={**env, "PYTHONPATH": f"{self.path}:{ROOT / 'docs'}"},
            cwd=self.path,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        return done.stdout + done.stderr


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    return Copy(tmp_path)


def test_the_command_line_has_it_with_help_json_and_checks(copy: Copy):
    assert "greet people" in copy.python("-m", "snell", "--help")
    shown = copy.python("-m", "snell", "greeting", "say", "--help")
    assert all(text in shown for text in ("Greet a person.", "whom to greet", "how often", "snell greeting say Ann"))
    assert "greeting: hello Ann hello Ann" in copy.python("-m", "snell", "greeting", "say", "Ann", "--times", "2")
    answer = json.loads(copy.python("-m", "snell", "greeting", "say", "Ann", "--json"))
    assert answer == {"memories": 1, "greeting": "hello Ann"}
    wrong = copy.python("-m", "snell", "greeting", "say", "Ann", "--times", "10")
    assert wrong == "snell: the call is not valid: times: expected a number <= 9\n"


def test_remote_calls_and_mcp_have_it_and_check_its_arguments(copy: Copy):
    given = [{"name": "Ann"}, {}, {"name": ["Ann"]}, {"name": "Ann", "tims": 2}, {"name": "Ann", "times": True}]
    lines = [json.dumps({"cmd": "greeting.say", "args": each}) for each in given]
    *answers, schema = json.loads(copy.python("-c", ASK, *lines, json.dumps({"cmd": "greeting.sya"})))
    assert answers[0] == {"ok": True, "data": {"memories": 1, "greeting": "hello Ann"}}
    assert [each["details"]["issues"][0] for each in answers[1:5]] == [
        "name: is missing",
        "name: expected a string, got a list",
        "tims: unknown argument; did you mean `times`?",
        "times: expected a number, got a boolean",
    ]
    assert answers[5]["message"] == "unknown command `greeting.sya`; did you mean `greeting.say`?"
    assert (schema["required"], schema["properties"]["times"]["maximum"]) == (["name"], 9)


def test_the_reference_pages_have_it(copy: Copy):
    pages = "import generate; print(generate.commands(), generate.mcp_server(), generate.operations())"
    shown = copy.python("-c", pages)
    assert "## snell greeting" in shown
    assert "| `say_hello` | reads | **name**, times = 1 | Greet a person. |" in shown
    row = "| `greeting.say` | reads | **name**, times = 1 | `snell greeting say`, tool `say_hello` | Greet a person. |"
    assert row in shown
