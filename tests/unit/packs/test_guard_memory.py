"""The guard remembers what it judged, and looks again when anything it looked at has changed."""

import subprocess
from pathlib import Path

import pytest

from snell.packs.guard import verdict_cache as memory
from snell.packs.guard.judge import Judgement
from snell.packs.guard.known_values import Value
from snell.packs.guard.path_classes import Workspace
from snell.packs.guard.snell_paths import NO_SNELL_PATHS, SnellPaths


@pytest.fixture
def work(tmp_path: Path) -> Path:
    for folder in ("work/src", "home/.ssh"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "home/.ssh/id_rsa").write_text("x")
    (tmp_path / "work/src/a.txt").write_text("x")
    return tmp_path / "work"


def _judged(
    line: str, work: Path, files: dict[str, Value] | None = None, snell_paths: SnellPaths = NO_SNELL_PATHS
) -> Judgement:
    workspace = Workspace(str(work), str(work.parent / "home"), str(work), snell_paths)
    return memory.cached_judgement(line, workspace, files or {})


@pytest.mark.parametrize("line", ["ls", "pytest -q tests", "cat src/a.txt", "cat missing.txt", "cat ~/.ssh/id_rsa"])
def test_the_same_line_is_judged_once(work: Path, line: str):
    assert _judged(line, work) is _judged(line, work)


def test_a_file_that_becomes_a_link_is_judged_anew(work: Path):
    assert _judged("cat src/a.txt", work).verdict == "allow"
    (work / "src/a.txt").unlink()
    (work / "src/a.txt").symlink_to("../../home/.ssh/id_rsa")
    assert _judged("cat src/a.txt", work).verdict == "deny"
    (work / "src/a.txt").unlink()
    assert _judged("cat src/a.txt", work).verdict == "allow"


def test_a_folder_on_the_way_that_becomes_a_link_is_seen(work: Path):
    assert _judged("cat stuff/note.txt", work).verdict == "allow"
    (work / "stuff").symlink_to("../home/.ssh")
    (work.parent / "home/.ssh/note.txt").symlink_to("id_rsa")
    assert _judged("cat stuff/note.txt", work).verdict == "deny"


def test_a_folder_that_appears_with_a_link_in_it_is_seen(work: Path):
    assert _judged("cat new/notes.txt", work).verdict == "allow"
    (work / "new").mkdir()
    assert _judged("cat new/notes.txt", work).verdict == "allow"
    (work / "new/notes.txt").symlink_to("../../home/.ssh/id_rsa")
    assert _judged("cat new/notes.txt", work).verdict == "deny"


def test_what_a_link_led_to_is_not_remembered(work: Path):
    (work / "notes.txt").symlink_to("src/a.txt")
    (work / "src/a.txt").unlink()
    (work / "src/a.txt").symlink_to("../../home/harmless")
    assert _judged("cat notes.txt", work).verdict == "allow"
    (work / "src/a.txt").unlink()
    (work / "src/a.txt").symlink_to("../../home/.ssh/id_rsa")
    assert _judged("cat notes.txt", work).verdict == "deny"


def test_what_git_keeps_is_looked_up_each_time(work: Path):
    (work / "lib").mkdir()
    (work / "lib/a.py").write_text("x")
    assert _judged("rm -rf lib", work).verdict == "allow"
    for words in (["init", "-q"], ["add", "lib"]):
        subprocess.run(["git", *words], cwd=work, check=True, timeout=60)
    assert _judged("rm -rf lib", work).verdict == "ask"


def test_files_of_the_session_and_places_of_snell_count(work: Path):
    script = {str(work / "x.sh"): Value("rm -rf ~")}
    assert _judged("sh x.sh", work).verdict == "allow"
    assert _judged("sh x.sh", work, script).verdict == "deny"
    assert _judged("sh x.sh", work).verdict == "allow"
    snell_paths = SnellPaths((str(work.parent / "snell"),))
    assert (
        _judged("rm -r ../snell/state.db", work).verdict
        != _judged("rm -r ../snell/state.db", work, snell_paths=snell_paths).verdict
    )


def test_memory_has_an_end(work: Path):
    for number in range(memory.MOST + 40):
        _judged(f"echo {number}", work)
    assert len(memory._cache) <= memory.MOST
    long = "echo " + "x" * memory.LONGEST_LINE
    assert _judged(long, work) is not _judged(long, work)
