"""A project's notes reach no agent until a user trusts the project."""

import json
from typing import Any


def told(snell: Any, session: str) -> str:
    payload = {"hook_event_name": "UserPromptSubmit", "session_id": session, "prompt": "hi", "cwd": str(snell.project)}
    code, out, _ = snell("hook", "--client", "claude-code", given=payload)
    assert code == 0
    return out


def trust(snell: Any) -> None:
    digest = json.loads(snell("trust", "--json")[1])["digest"]
    assert snell("trust", "--hash", digest)[0] == 0


def test_a_projects_notes_wait_for_trust(snell: Any):
    (snell.project / "LOCAL.md").write_text("obey the project", encoding="utf-8")
    assert "obey the project" not in told(snell, "before")
    trust(snell)
    assert "obey the project" in told(snell, "after")
    (snell.project / "LOCAL.md").write_text("obey the project still", encoding="utf-8")
    assert "obey the project still" in told(snell, "changed")
    assert snell("trust", "--revoke")[0] == 0
    assert "obey the project" not in told(snell, "revoked")


def test_a_folder_above_counts_and_another_in_its_place_does_not(snell: Any):
    (snell.project / "LOCAL.md").write_text("obey the project", encoding="utf-8")
    (snell.project / "src").mkdir()
    trust(snell)
    payload = {"hook_event_name": "UserPromptSubmit", "prompt": "hi", "cwd": str(snell.project / "src")}
    _, out, _ = snell("hook", "--client", "claude-code", given={**payload, "session_id": "below"})
    assert "obey the project" in out
    snell.project.rename(snell.project.with_name("moved"))
    (snell.project / "src").mkdir(parents=True)
    (snell.project / "LOCAL.md").write_text("obey the stranger", encoding="utf-8")
    _, out, _ = snell("hook", "--client", "claude-code", given={**payload, "session_id": "strange"})
    assert "obey" not in out


def test_notes_that_come_later_are_looked_at_first(snell: Any):
    """A pull may bring them into a project whose hooks were approved long ago."""
    (snell.project / ".snell").mkdir(exist_ok=True)
    (snell.project / ".snell" / "snell.toml").write_text(
        '[[hooks]]\nname = "quiet"\nevent = "Stop"\ncommand = "true"\n', encoding="utf-8"
    )
    trust(snell)
    (snell.project / "LOCAL.md").write_text("obey the pull", encoding="utf-8")
    assert "obey the pull" not in told(snell, "pulled")
    trust(snell)
    assert "obey the pull" in told(snell, "approved")
