"""Small parts of the work layer: which command is ours, what a transcript says, where directives are."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from snell.work import artefacts, directives, skill_files
from snell.work.agents import most_urgent
from snell.work.errors import WorkError
from snell.work.rows import camel, camel_keys
from snell.work.snell_commands import is_snell_command, writes_log_entry
from snell.work.transcript_end import find_failure


@pytest.mark.proves("S2-66")
@pytest.mark.parametrize(
    ("command", "ours"),
    [
        ("snell effort log done", True),
        ("  engine session phase 2", True),
        ("snell", True),
        ("snell effort log 'a; b | c'", True),
        ('snell session dehydrate <<\'EOF\'\n{"summary": "a; b"}\nEOF', True),
        ('echo \'{"summary": "a `b` $(c)"}\' | snell session dehydrate', True),
        ("printf '%s' x | cat | snell effort log", True),
        ("cat where-i-am.json | snell session dehydrate", True),
        ("snell session dehydrate < where-i-am.json", True),
        ("snell session dehydrate <<< '{}'", True),
        ("snell session dehydrate <<'END'\nrun `make` and $(make)\nEND\n", True),
        ('cat <<-"END" | snell session dehydrate\n\trun `make`\n\tEND', True),
        ("snell session dehydrate <<END\nrun \\`make\\`\nEND", True),
        ("cd /p && snell effort log 'ran `make`'", True),
        ("cd '/a b'; AGENT_ID=ann snell effort log \"it costs \\$(5)\" 2>&1", True),
        ("snell effort log 'line one\nline two' && snell phase 2 >/dev/null", True),
        ("snell effort log \\\n  --log PLAN x", True),
        ("snell effort log fixed#3", True),
        ("snell effort log fixed#3; make", False),
        ("snell session dehydrate <<END\nrun `make`\nEND", False),
        ("snell session dehydrate <<'END'\nEND\nmake\nEND", False),
        ("snell session dehydrate <<'END'\nnever ends", False),
        ('snell effort log "`make`"', False),
        ("snell effort log x > Makefile", False),
        ("snell effort log x & make", False),
        ("(snell effort log x; make)", False),
        ("cd /p && make && snell effort log x", False),
        ("cd /p", False),
        ("make | snell effort log", False),
        ("echo x && snell effort log y", False),
        ("PATH=/elsewhere snell effort log", False),
        ("snell effort log <(make)", False),
        ("engineer build", False),
        ("echo snell effort log", False),
        ("snell effort log; rm -rf /", False),
        ("snell effort log x && make", False),
        ("snell effort log x | tee y", False),
        ("snell effort log $(make)", False),
        ("snell effort log `make`", False),
        ("snell effort log x\nmake", False),
        ("snell effort log <<EOF\nx\nEOF\nmake", False),
        ("snell effort log 'unfinished", False),
        ("/tmp/snell effort log", False),
        ("", False),
    ],
)
def test_one_whole_command_of_ours_is_ours_and_nothing_else_is(command: str, ours: bool):
    assert is_snell_command(command) is ours


@pytest.mark.parametrize(
    ("command", "writes"),
    [
        ("snell effort log done", True),
        ("engine log done", True),
        ("cd /p && snell effort log --log=PLAN --effort 3 --json 'so far'", True),
        ("echo done | snell effort log", True),
        ("snell effort log <<'END'\ndone\nEND", True),
        ("snell effort log -- --not-an-option", False),
        ("snell effort log --nosuch", False),
        ("snell effort log --nosuch done", False),
        ("snell effort log --help", False),
        ("snell effort log", False),
        ("snell effort log ''", False),
        ("snell effort logs done", False),
        ("snell effort show", False),
        ("snell effort log done; make", False),
    ],
)
def test_only_an_entry_that_can_be_written_starts_the_count_anew(command: str, writes: bool):
    assert writes_log_entry(command) is writes


@pytest.mark.proves("S2-42")
def test_names_become_camel_case_on_the_top_level_only():
    assert camel_keys({"tool_input": {"file_path": 1}, "sessionId": 2}) == {
        "toolInput": {"file_path": 1},
        "sessionId": 2,
    }
    assert [camel(name) for name in ("a", "tool_use_id", "toolUseId")] == ["a", "toolUseId", "toolUseId"]


@pytest.mark.proves("S2-97")
@pytest.mark.parametrize(
    ("row", "trouble"),
    [
        ({"type": "system", "content": "Conversation too long"}, "exhausted"),
        ({"type": "error", "error": {"code": "context_length_exceeded"}}, "exhausted"),
        ({"isApiErrorMessage": True, "message": {"content": "Prompt is too long"}}, "exhausted"),
        ({"type": "error", "error": {"type": "rate_limit_error"}}, "rate_limited"),
        ({"type": "error", "error": {"type": "overloaded_error"}}, "rate_limited"),
        ({"message": {"model": "<synthetic>", "content": "You've hit your limit"}}, "rate_limited"),
        ({"type": "user", "message": {"content": "what does rate_limit mean?"}}, ""),
        ({"type": "assistant", "message": {"content": "prompt is too long, you said"}}, ""),
    ],
)
def test_only_what_the_client_itself_wrote_is_a_limit(row: Any, trouble: str):
    assert find_failure([json.dumps(row).encode()]) == trouble


@pytest.mark.parametrize(
    ("after", "trouble"),
    [
        ({"type": "assistant", "message": {"role": "assistant", "content": "done"}}, ""),
        ({"type": "response_item", "payload": {"type": "message", "role": "assistant", "content": []}}, ""),
        ({"type": "gemini", "content": "done"}, ""),
        ({"type": "assistant.message", "data": {"content": "done"}}, ""),
        ({"type": "user", "message": {"role": "user", "content": "go on"}}, "exhausted"),
        ({"type": "assistant", "isSidechain": True, "message": {"role": "assistant"}}, "exhausted"),
        ({"isApiErrorMessage": True, "message": {"content": "API Error: 529 Overloaded"}}, "rate_limited"),
        ({"type": "event_msg", "payload": {"type": "error", "message": "rate limit reached"}}, "rate_limited"),
    ],
)
def test_an_error_is_over_when_the_model_has_spoken_again(after: Any, trouble: str):
    full = {"type": "assistant", "isApiErrorMessage": True, "message": {"content": "Prompt is too long"}}
    assert find_failure([json.dumps(row).encode() for row in (full, after)]) == trouble


def test_a_transcript_that_is_cut_off_or_not_one_says_nothing():
    assert [find_failure(lines) for lines in ([], [b"{"], [b"\xff\xfe"], [b"[1]"], [b"null"])] == [""] * 5


@pytest.mark.proves("S2-146")
def test_artefacts_are_called_after_ordinal_skill_and_kind(tmp_path: Path):
    effort = {"ordinal": 1, "skill": "brain-storm", "taskId": str(tmp_path / "task")}
    path = artefacts.path_of(effort, "log")
    assert Path(path).name == "1_BRAIN_STORM_LOG.md"
    artefacts.append(path, artefacts.stamp_heading("## One\nx", 0))
    artefacts.append(path, artefacts.stamp_heading("plain", 0))
    assert (
        Path(path).read_text("utf-8")
        == "## [1970-01-01 00:00:00 UTC] One\nx\n\n## [1970-01-01 00:00:00 UTC]\nplain\n\n"
    )
    (tmp_path / "task/12_OTHER.md").touch()
    assert artefacts.files_of_effort(effort) == [path]
    assert artefacts.files_of_effort({**effort, "taskId": "/nowhere"}) == []


def test_a_log_is_never_written_through_a_link(tmp_path: Path):
    (tmp_path / "1_X_LOG.md").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(WorkError, match="cannot be written") as caught:
        artefacts.append(str(tmp_path / "1_X_LOG.md"), "x")
    assert (caught.value.code, (tmp_path / "elsewhere").exists()) == ("COMMAND_ERROR", False)


def test_what_is_no_file_is_neither_read_nor_written(tmp_path: Path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert [artefacts.read_text(each, 10) for each in (str(pipe), "/dev/zero", str(tmp_path), "/gone", None)] == [
        ""
    ] * 5
    for path in (str(pipe), "/dev/null"):
        with pytest.raises(WorkError):
            artefacts.append(path, "x")


def test_directives_are_found_up_to_the_root_and_no_further(tmp_path: Path):
    inside = tmp_path / "p/src"
    (inside / ".directives").mkdir(parents=True)
    for path in (
        tmp_path / "AGENTS.md",
        tmp_path / "p/AGENTS.md",
        inside / "AGENTS.md",
        inside / ".directives/AGENTS.md",
    ):
        path.write_text(str(path), encoding="utf-8")
    (inside / "TESTING.md").touch()
    (inside / "linked").mkdir()
    (inside / "linked/AGENTS.md").symlink_to(inside / "AGENTS.md")
    found = [each["path"] for each in directives.discover([str(inside)], str(tmp_path / "p"), ["TESTING"])]
    wanted = [inside / ".directives/AGENTS.md", inside / "AGENTS.md", inside / "TESTING.md", tmp_path / "p/AGENTS.md"]
    assert found == [str(path) for path in wanted]
    again = directives.discover([str(inside), str(inside / "linked")], str(tmp_path / "p"))
    assert len(again) == 3
    assert directives.discover(["/etc"], str(tmp_path / "p")) == []
    assert directives.resolve("AGENTS", str(inside), str(tmp_path / "p")) == str(inside / ".directives/AGENTS.md")
    assert directives.resolve("../AGENTS", str(inside), str(tmp_path / "p")) is None


@pytest.mark.proves("S2-126")
def test_the_most_urgent_status_stands_for_several():
    order = ["error", "attention", "working", "checked", "done", "idle"]
    assert [most_urgent(order[number:]) for number in range(6)] == order
    assert most_urgent([]) == "idle"


def test_a_skill_file_is_taken_apart():
    text = "---\nname: build\ndescription: 'builds'\nversion: 2\n---\n## 1. Plan\n## Phase 2: Do\ntext\n"
    found = skill_files.parse_skill(text, "/s/build/SKILL.md")
    assert (found["name"], found["description"], found["version"]) == ("build", "builds", "2")
    assert found["phases"] == [{"label": "1", "name": "Plan"}, {"label": "2", "name": "Do"}]
    declared = skill_files.parse_skill(
        'x\n```json\n{"phases": [{"label": "0", "name": "Z"}], "templates": ["t.md"]}\n```\n'
    )
    assert (declared["phases"], declared["templates"]) == ([{"label": "0", "name": "Z"}], ["t.md"])
    assert skill_files.parse_skill("", "/s/x/SKILL.md")["name"] == "x"
