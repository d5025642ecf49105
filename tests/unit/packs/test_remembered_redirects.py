"""The toolchain pack remembers what a line becomes, and only while the project is the same."""

from pathlib import Path

from snell.packs.toolchain.rewrite_line import redirect_command, redirect_line
from snell.settings.file_digests import watch_file
from tests.unit.packs.project_files import MAKE, PYTHON, lay_out
from tests.waiting import wait_until


def test_a_line_that_comes_again_is_answered_for_the_project_as_it_is_then(tmp_path: Path) -> None:
    """An earlier answer is used only while every file and folder that it came from is the same."""
    folder = tmp_path / "project" / "part"
    lay_out(folder, PYTHON)
    makefile, lock, line = folder / "Makefile", folder / "uv.lock", "pytest"

    def answer() -> str:
        files = [tmp_path, *tmp_path.rglob("*")]
        wait_until(lambda: all(watch_file(each).is_settled for each in files))  # else no answer is remembered
        result = redirect_command({}, line, str(folder))
        assert result == redirect_command({}, line, str(folder)) == redirect_line(line, str(folder))
        return result.command or ""

    assert answer() == ""
    for change, expected in [
        (lock.touch, "uv run pytest"),
        (lock.unlink, ""),
        ((folder.parent / "uv.lock").touch, "uv run pytest"),
        ((folder / ".git").mkdir, ""),
        (lambda: makefile.write_text(MAKE["Makefile"]), "make test"),
        (lambda: makefile.write_text("build:\n"), ""),
        (makefile.unlink, ""),
        (lambda: makefile.symlink_to("later.mk"), ""),
        (lambda: (folder / "later.mk").write_text("include more.mk\n"), ""),
        (lambda: (folder / "more.mk").write_text(MAKE["Makefile"]), "make test"),
    ]:
        change()
        assert answer() == expected
