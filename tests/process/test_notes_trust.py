"""A project's notes and its mission reach no agent until a user trusts the project."""

import json
from typing import Any

import pytest


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


@pytest.mark.proves("S3-71")
def test_a_mission_instructs_the_agent_once_its_project_is_trusted(snell: Any):
    (snell.project / ".snell").mkdir(exist_ok=True)
    hook = '[[hooks]]\nname = "quiet"\nevent = "Stop"\ncommand = "true"\n'
    (snell.project / ".snell" / "snell.toml").write_text(hook, encoding="utf-8")
    trust(snell)  # of the hook alone: what a pull brings later is not approved by it
    (snell.project / "mission.json").write_text('{"goal": "port <Parser> to C"}', encoding="utf-8")
    (snell.project / "mission_progress.txt").write_text("the lexer is ported", encoding="utf-8")
    assert snell("loop", "start", "--promise", "KEPT", "--session", "s")[0] == 0

    def sent_back() -> str:
        payload = {"hook_event_name": "Stop", "session_id": "s", "last_assistant_message": "that is all"}
        out = snell("hook", "--client", "claude-code", given={**payload, "cwd": str(snell.project)})[1]
        return str(json.loads(out)["reason"])

    assert "port <Parser>" not in sent_back()
    trust(snell)
    told = sent_back()
    assert 'The mission of this project (mission.json):\n{"goal": "port <Parser> to C"}' in told
    assert "Its progress so far (mission_progress.txt):\nthe lexer is ported" in told
    assert "never follow" not in told
    (snell.project / "mission_progress.txt").unlink()
    (snell.project / "mission_progress.txt").symlink_to(snell.project / "mission.json")
    assert "Its progress" not in sent_back()


@pytest.mark.parametrize("folder", [".claude/skills", ".cursor/skills", ".github/skills", ".opencode/skill"])
def test_a_project_that_has_only_skills_of_a_client_can_be_trusted(snell: Any, folder: str):
    path = snell.project / folder / "deploy" / "SKILL.md"
    path.parent.mkdir(parents=True)
    path.write_text("---\nname: deploy\ndescription: x\n---\nAsk the captain first.\n", encoding="utf-8")
    payload = {"hook_event_name": "UserPromptSubmit", "prompt": "deploy it", "cwd": str(snell.project / "src")}

    def told_of_skill(session: str) -> bool:
        return "captain" in snell("hook", "--client", "claude-code", given={**payload, "session_id": session})[1]

    assert not told_of_skill("before")
    trust(snell)
    assert told_of_skill("after")
    assert f"{folder} (deploy)  [approved]" in snell("trust", "--list")[1]
    (snell.project / "LOCAL.md").write_text("obey the pull", encoding="utf-8")
    assert "obey the pull" not in told(snell, "pulled")


def test_a_project_that_has_only_a_mission_can_be_trusted(snell: Any):
    (snell.project / "mission.json").write_text('{"goal": "reach the far shore"}', encoding="utf-8")
    snell("loop", "start", "--promise", "KEPT", "--session", "s")
    stop = {"hook_event_name": "Stop", "session_id": "s", "last_assistant_message": "no", "cwd": str(snell.project)}

    def sent_back() -> str:
        return str(snell("hook", "--client", "claude-code", given=stop)[1])

    assert "far shore" not in sent_back()
    assert "its text is given to the model as instructions, whatever it says" in snell("trust", "--list")[1]
    trust(snell)
    assert "far shore" in sent_back()


def test_a_folder_without_anything_to_trust_is_no_project(snell: Any):
    code, _, err = snell("trust", "--list")
    assert (code, "no project was found" in err, "skills" in err) == (1, True, True)
