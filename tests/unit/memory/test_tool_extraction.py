"""What a tool call says: which tools, which fields, how much."""

import json
from pathlib import Path

import pytest

from snell.memory import tool_extraction
from snell.memory.tool_extraction import OWN_TOOLS, PATTERNS, SKIPPED, content_of, is_skipped
from snell.operations.mcp.tools import tools
from tests.golden.reading import FOLDER, golden, name_of

SOURCE = Path(tool_extraction.__file__).parents[1]


@pytest.mark.proves("S4-38", "S4-39", "S4-40", "S4-56", "S4-95")
@pytest.mark.parametrize(
    "tool",
    [
        "",
        "Read",
        "NotebookRead",
        "LS",
        "Agent",
        "mcp__unknown__recall",
        "Glob",
        "Grep",
        "LSP",
        "WebSearch",
        "WebFetch",
        "Task",
        "mcp__snell__recall",
        "mcp__plugin_snell_snell__recall",
    ],
)
def test_tools_that_only_look_and_our_own_are_left_alone(tool: str) -> None:
    assert is_skipped(tool)
    assert content_of(tool, {"command": "x", "file_path": "f", "content": "c"}, "r") == ""


@pytest.mark.proves("S4-95")
def test_which_tools_are_captured_and_which_are_not_is_in_one_file() -> None:
    listed = {*SKIPPED, *PATTERNS.tables["edits"]}
    modules = [path for folder in ("memory", "packs/remember") for path in (SOURCE / folder).rglob("*.py")]
    named = {(path.name, tool) for path in modules for tool in listed if f'"{tool}"' in path.read_text("utf-8")}
    assert ({"Read", "Edit"} <= listed, len(modules) > 30, named) == (True, True, set())


@pytest.mark.proves("S4-41", "S4-42", "S4-43", "S4-98")
@pytest.mark.parametrize(
    ("tool", "given", "response", "content"),
    [
        ("Edit", {"file_path": "a.py", "old_string": "o", "new_string": "n"}, "ok", "File: a.py\nn"),
        ("MultiEdit", {"file_path": "a", "edits": [{"new_string": "1"}, {"new_string": "2"}, 3]}, "", "File: a\n1\n2"),
        ("Write", {"file_path": "a.py", "content": "c"}, "", "File: a.py\nc"),
        ("NotebookEdit", {"notebook_path": "n.ipynb", "new_source": "s"}, "", "Notebook: n.ipynb\ns"),
        ("Bash", {"command": "ls"}, {"stdout": "a\n", "stderr": "", "interrupted": False}, "Command: ls\na\n"),
        ("Bash", {"command": "ls"}, "a", "Command: ls\na"),
        ("Bash", {"command": "ls"}, None, "Command: ls"),
        ("mcp__db__query", {"q": 1}, [{"type": "text", "text": "rows"}], "Tool: mcp__db__query\nrows"),
        ("mcp__db__query", {}, {"rows": [1]}, 'Tool: mcp__db__query\n{"rows":[1]}'),
        (
            "mcp__db__query",
            {},
            {"content": [{"type": "text", "text": "a\nb"}, {"type": "image"}]},
            "Tool: mcp__db__query\na\nb",
        ),
        ("mcp__db__query", {}, '{"content":[{"type":"text","text":"a\\nb"}]}', "Tool: mcp__db__query\na\nb"),
        ("mcp__db__query", {}, {"llmContent": [{"text": "a"}, "b"], "x": 1}, "Tool: mcp__db__query\na\nb"),
        ("mcp__db__query", {}, {"result": [{"n": 1}]}, 'Tool: mcp__db__query\n{"result":[{"n":1}]}'),
        ("Bash", {"command": "ls"}, {"textResultForLlm": "a\nb", "resultType": "success"}, "Command: ls\na\nb"),
        ("Bash", {"command": "ls"}, '{"name": "x", "size": 1}', 'Command: ls\n{"name": "x", "size": 1}'),
        ("Bash", {"command": "ls"}, {"success": True, "result": ["a\n"]}, "Command: ls\na\n"),
        ("mcp__db__query", {}, "", ""),
        ("Bash", {"command": 5}, "a", ""),
        ("Bash", {}, "a", ""),
        ("Edit", {"file_path": "a"}, "", ""),
        ("Edit", {"new_string": "n"}, "", ""),
        ("Edit", {"file_path": "", "new_string": "n"}, "", ""),
        ("Write", {"file_path": "a", "content": "  "}, "", ""),
        ("Telescope", {"command": "ls"}, "x", ""),
    ],
)
def test_each_tool_has_fields_that_matter(tool: str, given: dict, response, content: str) -> None:
    assert content_of(tool, given, response) == content


@pytest.mark.proves("S4-44")
def test_long_fields_are_cut_and_show_it() -> None:
    exact = content_of("Write", {"file_path": "f", "content": "x" * 5_000}, "")
    assert exact == "File: f\n" + "x" * 5_000
    assert content_of("Write", {"file_path": "f", "content": "x" * 5_001}, "") == "File: f\n" + "x" * 4_997 + "..."
    shell = content_of("Bash", {"command": "c" * 3_001}, "o" * 3_001)
    assert shell == "Command: " + "c" * 2_997 + "...\n" + "o" * 2_997 + "..."
    total = content_of(f"mcp__{'s' * 9_000}__t", {}, "x" * 5_000)
    assert (len(total), total.endswith("...")) == (10_000, True)


def _shells() -> list[Path]:
    paths = [path for path in FOLDER.glob("*/PostToolUse*.json") if "shell-ran" in path.read_text()]
    return [path for path in paths if "shell-ran" in json.dumps(golden(path)["event"].get("tool_response"))]


@pytest.mark.parametrize("path", _shells(), ids=name_of)
def test_what_a_command_printed_is_found_in_the_answers_of_every_client(path: Path) -> None:
    event = golden(path)["event"]
    content = content_of(event["tool"], event["tool_input"], event["tool_response"])
    assert content.startswith("Command: ")
    printed = content.partition("\n")[2]
    assert "shell-ran" in printed
    assert "{" not in printed


def test_the_clients_of_which_an_answer_is_known() -> None:
    assert {"copilot", "gemini", "qwen", "cursor", "codex"} <= {path.parent.name for path in _shells()}


@pytest.mark.parametrize(
    "command",
    [
        "snell memory recall uv",
        "cd x && snell memory list | head",
        "~/.local/bin/snell why last",
        "python -m snell memory recall uv",
        "FOO=1 uvx snell memory recall 'pip or uv'",
        'bash -c "snell memory list"',
    ],
)
def test_what_we_printed_ourselves_is_no_news(command: str) -> None:
    assert content_of("Bash", {"command": command}, {"stdout": "We decided to use uv"}) == ""


@pytest.mark.parametrize("command", ["ls snell", "cat docs/snell.md", "git -C snell log", "grep snell README.md"])
def test_a_command_that_only_names_us_is_captured(command: str) -> None:
    assert content_of("Bash", {"command": command}, {"stdout": "x"}) == f"Command: {command}\nx"


def test_our_tools_are_known_where_a_client_does_not_say_whose_they_are() -> None:
    assert {each.tool for each in tools()} == set(OWN_TOOLS)
    assert is_skipped("mcp__unknown__recall")
    assert not is_skipped("mcp__unknown__query")
