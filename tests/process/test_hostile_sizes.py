"""What a trusted project makes far too large, what a crash leaves, and a folder that is swapped while it is made."""

import json
import os
import stat
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from snell.model.errors import SnellError
from snell.system.crash_report import write_report
from snell.system.paths import make_private

BIG = 10_000_000
CONTENTS = {
    "ten megabytes in one line": "x" * BIG,
    "a million lines": "- a: b\n" * 1_000_000,
    "a million lines of front matter": "---\n" + "name: x\n" * 1_000_000 + "---\n",
    "deep nesting": "---\nname: " + "[" * 200_000 + "\n---\n" + "> " * 200_000,
    "no end of the front matter": "---\ndescription: >\n" + "  word\n" * 500_000,
    "only spaces": " " * BIG,
}


def told(snell: Any, session: str, event: str = "UserPromptSubmit") -> str:
    payload = {"hook_event_name": event, "session_id": session, "prompt": "use x", "cwd": str(snell.project)}
    code, out, err = snell("hook", "--client", "claude-code", given={**payload, "source": "startup"})
    assert (code, "Traceback" in err) == (0, False)
    return out


def trust(snell: Any) -> None:
    digest = json.loads(snell("trust", "--json")[1])["digest"]
    assert snell("trust", "--hash", digest)[0] == 0


@pytest.mark.timeout(300)
@pytest.mark.parametrize("kind", CONTENTS)
def test_a_trusted_project_with_something_huge_is_answered_shortly(snell: Any, kind: str):
    for name in ("LOCAL.md", ".claude/skills/x/SKILL.md", ".claude/agents/x.md", ".snell/notes/x.md"):
        path = snell.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(CONTENTS[kind], encoding="utf-8")
    trust(snell)
    for number, event in enumerate(("SessionStart", "UserPromptSubmit", "Stop")):
        assert len(told(snell, f"s{number}", event)) < 200_000


def test_a_crash_report_is_private_and_has_neither_arguments_nor_secrets(tmp_path: Path, monkeypatch: Any):
    monkeypatch.setenv("SNELL_HOME", str(tmp_path / "h"))
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    try:
        raise ValueError(f"cannot send {secret[:40]}")
    except ValueError as error:
        path = Path(write_report(error, ["memory", "remember", "the words of the user"]))
    text = path.read_text(encoding="utf-8")
    assert "ValueError: cannot send" in text
    assert secret[:40] not in text
    assert "the words of the user" not in text
    modes = [stat.S_IMODE(each.stat().st_mode) for each in (path, path.parent, path.parent.parent)]
    assert modes == [0o600, 0o700, 0o700]


def test_a_folder_that_is_swapped_for_a_link_while_it_is_made_changes_nothing_else(tmp_path: Path):
    victim, place, real, link = (tmp_path / name for name in ("victim", "place", "real", "link"))
    victim.mkdir(mode=0o755)
    victim.chmod(0o755)
    real.mkdir()
    link.symlink_to(victim)
    is_over = threading.Event()

    def swap() -> None:
        while not is_over.is_set():
            for each in (real, link):
                with suppress(OSError):
                    os.rename(each, place)
                with suppress(OSError):
                    os.rename(place, each)

    thread = threading.Thread(target=swap)
    thread.start()
    made = 0
    for _ in range(3_000):
        with suppress(SnellError, OSError):
            make_private(place)
            made += 1
    is_over.set()
    thread.join()
    assert made > 0
    assert stat.S_IMODE(victim.stat().st_mode) == 0o755
