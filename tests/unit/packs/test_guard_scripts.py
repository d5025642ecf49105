"""The guard reads scripts on the disk before they run, and reads them again when they have changed."""

import os
from pathlib import Path

from snell.packs.guard.judge import Judgement
from snell.packs.guard.path_classes import Workspace
from snell.packs.guard.verdict_cache import cached_judgement

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
