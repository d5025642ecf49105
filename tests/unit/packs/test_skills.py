"""Skills: read from imperfect files, ranked, handed over once."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from snell.packs.skills.folders import front_matter, skills_in
from snell.packs.skills.ranking import ranked, wanted
from snell.runtime.builtin_packs import pack_hooks
from snell.runtime.house import House

SKILLS = {
    "pdf": "Extract text and tables from PDF documents, fill in forms, merge and split pages.",
    "deploy": "Roll a release out to staging and production with a health check and a rollback.",
    "api-design": "Design REST endpoints: naming, versioning, pagination, error bodies.",
    "release-notes": "Write release notes from merged pull requests.",
    "spreadsheets": "Analyse spreadsheets with formulas, charts and pivot tables.",
}


def write_skill(folder: Path, name: str, head: str, body: str = "Do it well.") -> Path:
    path = folder / name / "SKILL.md"
    path.parent.mkdir(parents=True)
    path.write_text(f"---\n{head}\n---\n{body}\n", encoding="utf-8")
    return path


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for name, description in SKILLS.items():
        write_skill(tmp_path / ".claude/skills", name, f"name: {name}\ndescription: {description}", f"How to {name}.")
    return tmp_path


def house_of(home: Path, **options: Any) -> House:
    return House.embedded(*pack_hooks("skills", options), env={"HOME": str(home)})


def notes(house: House, event: str = "UserPromptSubmit", **fields: Any) -> list[str]:
    decision = house.fire(event, session_id="s", **fields)
    assert decision.failures == ()
    return [each.text for each in decision.notes]


@pytest.mark.proves("S3-76", "S3-77", "S3-80")
@pytest.mark.parametrize(
    ("prompt", "names"),
    [
        ("use the deploy skill", ["deploy"]),
        ("merge these two PDF files and split the last pages", ["pdf"]),
        ("analyse the charts in this spreadsheet", ["spreadsheets"]),
        ("redeployed it yesterday", []),
        ("write a haiku", []),
        ("check the error", []),
        ("fix the tests", []),
        ("", []),
    ],
)
def test_skills_are_found_by_name_and_by_several_words_of_their_description(home: Path, prompt: str, names: list[str]):
    found = wanted(ranked(prompt, skills_in([str(home / ".claude/skills")])), 3)
    assert [each.skill.name for each in found] == names


@pytest.mark.proves("S3-77")
def test_declared_triggers_count_and_a_user_may_set_others(home: Path):
    head = "name: tidy\ndescription: x\ntriggers:\n  - spring cleaning\n  - 'mop'"
    write_skill(home / ".claude/skills", "tidy", head)
    skills = skills_in([str(home / ".claude/skills")])
    assert ranked("time for some spring cleaning!", skills)[0].skill.name == "tidy"
    assert ranked("please mop", skills, {"tidy": ["sweep"]}) == []
    assert ranked("please sweep", skills, {"tidy": ["sweep"]})[0].because == ("trigger `sweep`",)


@pytest.mark.proves("S3-04", "S3-78")
def test_a_document_comes_with_the_prompt_once_a_session_while_it_fits(home: Path):
    with house_of(home) as house:
        first = notes(house, prompt="deploy it to production, with a rollback")
        again = notes(house, prompt="deploy it to production, with a rollback")
    path = home / ".claude/skills/deploy/SKILL.md"
    assert first == [f"Skill `deploy` ({path}) is made for this:\n\nHow to deploy."]
    assert again == []
    with house_of(home, inject=5) as house:
        (listed,) = notes(house, prompt="deploy it to production, with a rollback")
    assert listed.endswith(f"Read {path} first.")


def test_skills_of_a_project_count_only_where_it_is_trusted(home: Path, tmp_path: Path):
    project = tmp_path / "project"
    write_skill(project / ".claude/skills", "evil", "name: evil\ndescription: x")
    with house_of(home) as house:
        house.crew.here = replace(house.crew.here, project_dir=str(project), is_trusted=False)
        assert notes(house, prompt="evil plans") == []
        house.crew.here = replace(house.crew.here, is_trusted=True)
        assert len(notes(house, prompt="evil plans")) == 1


@pytest.mark.proves("S3-79", "S3-83")
def test_a_document_that_is_not_quite_right_is_read_as_far_as_it_is(tmp_path: Path):
    folder = tmp_path / "skills"
    write_skill(folder, "colon", "description: use when: x: y\nname: 'quoted'")
    write_skill(folder, "block", "name: block\ndescription: >\n  two\n  lines\ntags: [a, 'b']")
    (folder / "none").mkdir()
    (folder / "binary").mkdir()
    (folder / "binary/SKILL.md").write_bytes(b"\xff\xfe\x00---\n")
    (folder / "open").mkdir()
    (folder / "open/SKILL.md").write_text("---\nname: never closed\n", encoding="utf-8")
    (folder / "loop").mkdir()
    (folder / "loop/SKILL.md").symlink_to("SKILL.md")
    found = {each.name: each.description for each in skills_in([str(folder), str(tmp_path / "absent")])}
    assert found == {"quoted": "use when: x: y", "block": "two lines", "binary": "", "open": ""}
    assert front_matter('a: [x, "y z"]\nb:\n- one\n- two') == {"a": ["x", "y z"], "b": ["one", "two"]}


@pytest.mark.proves("S3-81")
def test_a_subagent_gets_the_list(home: Path):
    write_skill(home / ".codex/skills", "long", f"name: long\ndescription: {'word ' * 60}")
    with house_of(home) as house:
        (listed,) = notes(house, "SubagentStart", agent_id="a", agent_type="x")
    names = [line.split(":")[0].removeprefix("- ") for line in listed.splitlines()[1:]]
    assert names == [*sorted(SKILLS), "long"]
    assert all(len(line) < 150 + 120 for line in listed.splitlines())


@pytest.mark.proves("S3-82")
@pytest.mark.parametrize(
    ("command", "told"),
    [("pdftotext a.pdf", 1), ("python make.py out.PDF", 1), ("ls pdfs", 0), ("cat report.docx", 0), ("ls", 0)],
)
def test_a_command_on_a_document_is_reminded_of_its_skill_once(home: Path, command: str, told: int):
    call = {"tool_name": "Bash", "tool_input": {"command": command}}
    with house_of(home) as house:
        assert len(notes(house, "PreToolUse", **call)) == told
        assert notes(house, "PreToolUse", **call) == []
