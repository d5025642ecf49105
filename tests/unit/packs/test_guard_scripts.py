"""The guard reads scripts on the disk before they run, and reads them again when they have changed."""

import os
from pathlib import Path

from snell.packs.guard.judge import Judgement
from snell.packs.guard.path_classes import Workspace
from snell.packs.guard.verdict_cache import cached_judgement
from snell.runtime.app import Runtime
from snell.settings.packs import pack_hooks

HOME = "/home/user"


def _judge(folder: Path, command: str) -> Judgement:
    return cached_judgement(command, Workspace(str(folder), HOME, str(folder)), {})


def _verdicts(folder: Path, text: str, *commands: str, name: str = "run.sh") -> list[str]:
    (folder / name).write_text(text, encoding="utf-8")
    return [_judge(folder, command).verdict for command in commands]


def test_what_a_script_on_the_disk_would_destroy_is_asked_about(tmp_path: Path):
    commands = ("bash run.sh", "./run.sh", "sh -e run.sh x", "source ./run.sh", "timeout 5 bash run.sh")
    assert _verdicts(tmp_path, f"#!/bin/sh\nrm -rf {HOME}\n", *commands) == ["ask"] * 5
    code = f"import shutil\nshutil.rmtree('{HOME}')\n"
    assert _verdicts(tmp_path, code, "python3 run.py", name="run.py") == ["ask"]


def test_the_reason_names_the_script(tmp_path: Path):
    (tmp_path / "run.sh").write_text(f"rm -rf {HOME}\n", encoding="utf-8")
    found = _judge(tmp_path, "bash run.sh").findings
    assert [each.why.startswith(f"the script `{tmp_path}/run.sh`: it deletes") for each in found] == [True]


def test_ordinary_scripts_are_free_also_where_they_cannot_be_parsed(tmp_path: Path):
    for text in ('cd "$(dirname "$0")"\nrm -rf "$OUT"\n', "if then fi ((\n", ". ./.env\necho done\n", "\0\1ELF"):
        assert _verdicts(tmp_path, text, "bash run.sh", "./run.sh") == ["allow", "allow"]


def test_a_changed_script_is_read_again(tmp_path: Path):
    assert _verdicts(tmp_path, "ls\n", "bash run.sh", "bash run.sh") == ["allow", "allow"]
    assert _verdicts(tmp_path, f"rm -rf {HOME}\n", "bash run.sh") == ["ask"]
    (tmp_path / "other").write_text("ls\n", encoding="utf-8")
    os.replace(tmp_path / "other", tmp_path / "run.sh")
    assert _judge(tmp_path, "bash run.sh").verdict == "allow"


def test_a_script_that_the_line_writes_counts_instead_of_the_one_on_the_disk(tmp_path: Path):
    (tmp_path / "run.sh").write_text(f"rm -rf {HOME}\n", encoding="utf-8")
    assert _judge(tmp_path, "echo ls > run.sh; bash run.sh").verdict == "allow"
    assert _judge(tmp_path, f"echo 'rm -rf {HOME}' > run.sh; bash run.sh").verdict == "deny"


def test_a_script_that_was_not_read_is_said(tmp_path: Path):
    told = f"the script `{tmp_path}/run.sh` was not read completely: "
    for text, why in (
        ("# more\n" * 40_000, "it is larger than 64 KB"),
        ("\0\1 packed", "it is no text"),
        ("ls\n" * 7_000, "it holds too many commands"),
        ("ls\n", ""),
        ("\x7fELF\0", ""),  # a compiled program is no script
    ):
        (tmp_path / "run.sh").write_text(text, encoding="utf-8")
        assert _judge(tmp_path, "bash run.sh").unread == ((told + why,) if why else ())
    assert _judge(tmp_path, "bash missing.sh").unread == ()


def test_a_script_after_many_others_is_said(tmp_path: Path):
    for number in range(8):
        (tmp_path / f"{number}.sh").write_text("ls\n", encoding="utf-8")
    line = "; ".join(f"sh {number}.sh" for number in range(8))
    assert [text.partition(": ")[2] for text in _judge(tmp_path, line).unread] == ["it comes after 6 other scripts"] * 2


def test_what_was_not_read_is_in_the_reason_of_an_ask(tmp_path: Path):
    (tmp_path / "run.sh").write_text(f"rm -rf {HOME}\n" + "# more\n" * 40_000, encoding="utf-8")
    with Runtime.embed(*pack_hooks("guard")) as runtime:
        command = {"command": "bash run.sh"}
        decision = runtime.fire("PreToolUse", session_id="s", cwd=str(tmp_path), tool_name="Bash", tool_input=command)
    assert decision.verdict.name == "ASK"
    assert "it is larger than 64 KB" in decision.reason


def test_a_copied_or_moved_script_counts_like_the_script(tmp_path: Path):
    (tmp_path / "a.py").write_text("print(1)\n", encoding="utf-8")
    (tmp_path / "b.py").write_text(f"import shutil\nshutil.rmtree('{HOME}')\n", encoding="utf-8")
    commands = (
        "cp a.py c.py; python3 c.py",
        "mv a.py x && sh -c 'python3 x'",
        "cp b.py c.py; python3 c.py",
        "mv b.py y; python3 y",
    )
    assert [_judge(tmp_path, command).verdict for command in commands] == ["allow", "allow", "ask", "ask"]
    files = _judge(tmp_path, "cp b.py c.py").files
    (tmp_path / "c.py").write_bytes((tmp_path / "b.py").read_bytes())
    (tmp_path / "b.py").write_text("print(1)\n", encoding="utf-8")  # changed after the copy
    workspace = Workspace(str(tmp_path), HOME, str(tmp_path))
    assert cached_judgement("python3 c.py", workspace, files).verdict == "ask"
    assert _judge(tmp_path, "cp missing.py c; python3 c").verdict == "ask"
