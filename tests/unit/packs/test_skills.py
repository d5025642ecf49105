"""Skills: read from imperfect files, ranked, handed over once."""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from snell.packs.skills.ranking import rank_skills, select_skills
from snell.runtime.app import Runtime
from snell.settings.packs import pack_hooks
from snell.settings.skill_files import front_matter, skills_in
from snell.settings.skill_folders import folders_for

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


def runtime_of(home: Path, **options: Any) -> Runtime:
    return Runtime.embed(*pack_hooks("skills", options), env={"HOME": str(home)})


def notes(runtime: Runtime, event: str = "UserPromptSubmit", **fields: Any) -> list[str]:
    decision = runtime.fire(event, session_id="s", **fields)
    assert decision.failures == ()
    return [each.text for each in decision.notes]


@pytest.mark.proves("S3-76", "S3-77", "S3-80")
@pytest.mark.parametrize(
    ("prompt", "names"),
    [
        ("use the deploy skill", ["deploy"]),
        ("merge these two PDF files and split the last pages", ["pdf"]),
        ("analyse the charts in this spreadsheet", ["spreadsheets"]),
        ("create a spreadsheet", ["spreadsheets"]),
        ("redeployed it yesterday", []),
        ("undeploy it", []),
        ("the deployer is late", []),
        ("write a haiku", []),
        ("check the error", []),
        ("fix the tests", []),
        ("", []),
    ],
)
def test_skills_are_found_by_name_and_by_several_words_of_their_description(home: Path, prompt: str, names: list[str]):
    found = select_skills(rank_skills(prompt, skills_in([str(home / ".claude/skills")])), 3)
    assert [each.skill.name for each in found] == names


@pytest.mark.proves("S3-76", "S3-77")
def test_declared_triggers_count_and_a_user_may_set_others(home: Path):
    head = "name: tidy\ndescription: x\ntriggers:\n  - spring cleaning\n  - 'mop'"
    write_skill(home / ".claude/skills", "tidy", head)
    skills = skills_in([str(home / ".claude/skills")])
    assert rank_skills("time for some spring cleaning!", skills)[0].skill.name == "tidy"
    write_skill(home / ".claude/skills", "dust", "name: dust\ndescription: x\nkeywords: [cobwebs, shelves]")
    assert rank_skills("away with the cobwebs", skills_in([str(home / ".claude/skills")]))[0].skill.name == "dust"
    assert rank_skills("please mop", skills, {"tidy": ["sweep"]}) == []
    assert rank_skills("please sweep", skills, {"tidy": ["sweep"]})[0].because == ("trigger `sweep`",)


@pytest.mark.proves("S3-04", "S3-78")
def test_a_document_comes_with_the_prompt_once_a_session_while_it_fits(home: Path):
    with runtime_of(home) as runtime:
        first = notes(runtime, prompt="deploy it to production, with a rollback")
        again = notes(runtime, prompt="deploy it to production, with a rollback")
    path = home / ".claude/skills/deploy/SKILL.md"
    begin, end = (f"======== {word} skill [0-9a-f]{{12}} ========" for word in ("begin", "end"))
    assert re.fullmatch(
        rf"Skill `deploy` \({re.escape(str(path))}\) is made for this:\n{begin}\nHow to deploy\.\n{end}", first[0]
    )
    assert again == []
    with runtime_of(home, inject=5) as runtime:
        (listed,) = notes(runtime, prompt="deploy it to production, with a rollback")
    assert listed.endswith(f"Read {path} first.")


def test_skills_of_a_project_count_only_where_it_is_trusted(home: Path, tmp_path: Path):
    project = tmp_path / "project"
    write_skill(project / ".claude/skills", "evil", "name: evil\ndescription: x")
    with runtime_of(home) as runtime:
        runtime.contexts.base = replace(runtime.contexts.base, project_dir=str(project), is_trusted=False)
        assert notes(runtime, prompt="evil plans") == []
        runtime.contexts.base = replace(runtime.contexts.base, is_trusted=True)
        assert len(notes(runtime, prompt="evil plans")) == 1


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
    with runtime_of(home) as runtime:
        (listed,) = notes(runtime, "SubagentStart", agent_id="a", agent_type="x")
    names = [line.split(":")[0].removeprefix("- ") for line in listed.splitlines()[1:]]
    assert names == [*sorted(SKILLS), "long"]
    assert f"- long: {'word ' * 29}wo... (" in listed  # 150 characters of its description


@pytest.mark.proves("S3-82")
@pytest.mark.parametrize(
    ("command", "told"),
    [("pdftotext a.pdf", 1), ("python make.py out.PDF", 1), ("ls pdfs", 0), ("cat report.docx", 0), ("ls", 0)],
)
def test_a_command_on_a_document_is_reminded_of_its_skill_once(home: Path, command: str, told: int):
    call = {"tool_name": "Bash", "tool_input": {"command": command}}
    with runtime_of(home) as runtime:
        assert len(notes(runtime, "PreToolUse", **call)) == told
        assert notes(runtime, "PreToolUse", **call) == []


@pytest.mark.proves("S3-76")
@pytest.mark.parametrize(
    "folder",
    [
        ".claude/skills",
        ".agents/skills",
        ".codex/skills",
        ".gemini/skills",
        ".gemini/antigravity/skills",
        ".cursor/skills",
        ".copilot/skills",
        ".qwen/skills",
        ".factory/skills",
        ".kiro/skills",
        ".roo/skills",
        ".roo/skills-architect",
        ".codeium/windsurf/skills",
        ".augment/skills",
        ".cline/skills",
        ".grok/skills",
        ".kimi/skills",
        ".pi/agent/skills",
        ".warp/skills",
        ".junie/skills",
        ".config/opencode/skills",
        ".config/goose/skills",
        ".config/crush/skills",
        ".config/agents/skills",
    ],
)
def test_every_client_has_a_folder_of_its_own_for_a_user(tmp_path: Path, folder: str):
    write_skill(tmp_path / folder, "own", "name: own")
    assert [each.name for each in skills_in(folders_for(str(tmp_path), "", None))] == ["own"]


@pytest.mark.parametrize(
    "folder",
    [
        ".claude/skills",
        ".agents/skills",
        ".github/skills",
        ".kiro/skills",
        ".roo/skills-code",
        ".windsurf/skills",
        ".clinerules/skills",
        ".opencode/skill",
        ".goose/skills",
        ".crush/skills",
    ],
)
def test_a_project_has_folders_too_from_where_the_agent_works_up_to_its_root(tmp_path: Path, folder: str):
    below = tmp_path / "project/packages/web"
    write_skill(tmp_path / "project" / folder, "own", "name: own\ndescription: of the project")
    write_skill(below / folder, "own", "name: own\ndescription: of the package")
    (found,) = skills_in(folders_for(str(tmp_path / "home"), str(tmp_path / "project"), None, cwd=str(below)))
    assert found.description == "of the package"
    (found,) = skills_in(folders_for(str(tmp_path / "home"), str(tmp_path / "project"), None, cwd="/"))
    assert found.description == "of the project"


def test_a_client_that_was_moved_is_followed(tmp_path: Path):
    write_skill(tmp_path / "elsewhere/skills", "moved", "name: moved")
    env = {"CLAUDE_CONFIG_DIR": str(tmp_path / "elsewhere")}
    assert [each.name for each in skills_in(folders_for(str(tmp_path / "home"), "", None, env))] == ["moved"]


def test_skills_in_groups_and_in_small_letters_are_found(tmp_path: Path):
    write_skill(tmp_path / "office", "pdf", "name: pdf")
    write_skill(tmp_path, "small", "name: small").rename(tmp_path / "small/skill.md")
    os.symlink(tmp_path, tmp_path / "office/round")
    assert sorted(each.name for each in skills_in([str(tmp_path)])) == ["pdf", "small"]


def test_skills_of_plugins_that_are_installed_and_on_are_found(tmp_path: Path):
    plugins = tmp_path / ".claude/plugins"
    for name in ("on", "off", "here", "elsewhere"):
        write_skill(plugins / f"cache/market/{name}/1.0/skills", name, f"name: {name}")
    write_skill(plugins / "cache/market/on/1.0/further", "more", "name: more")
    write_skill(plugins / "cache/market/on/0.9/skills", "old", "name: old")
    write_skill(tmp_path / "outside", "outside", "name: outside")
    manifest = plugins / "cache/market/on/1.0/.claude-plugin/plugin.json"
    manifest.parent.mkdir()
    manifest.write_text(json.dumps({"skills": ["./further", "../../../../../../outside"]}), encoding="utf-8")
    project = str(tmp_path / "project")
    where = {"here": project, "elsewhere": "/other"}
    rows = {
        f"{name}@market": [
            {"installPath": str(plugins / f"cache/market/{name}/1.0"), "projectPath": where.get(name, "")}
        ]
        for name in ("on", "off", "here", "elsewhere")
    }
    (plugins / "installed_plugins.json").write_text(json.dumps({"version": 2, "plugins": rows}), encoding="utf-8")
    (tmp_path / ".claude/settings.json").write_text('{"enabledPlugins": {"off@market": false}}', encoding="utf-8")
    names = [each.name for each in skills_in(folders_for(str(tmp_path), project, None))]
    assert names == ["on", "more", "here"]


def test_skills_of_plugins_of_other_clients_are_found(tmp_path: Path):
    write_skill(tmp_path / ".codex/plugins/cache/market/on/abc/skills", "codex-on", "name: codex-on")
    write_skill(tmp_path / ".codex/plugins/cache/market/off/abc/skills", "codex-off", "name: codex-off")
    text = '[plugins."on@market"]\nenabled = true\n[plugins."off@market"]\nenabled = false\n'
    (tmp_path / ".codex/config.toml").write_text(text, encoding="utf-8")
    write_skill(tmp_path / ".gemini/extensions/x/skills", "gemini", "name: gemini")
    write_skill(tmp_path / ".copilot/installed-plugins/market/y/skills", "copilot", "name: copilot")
    found = [each.name for each in skills_in(folders_for(str(tmp_path), "", None))]
    assert found == ["codex-on", "gemini", "copilot"]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"plugins": []}', '{"plugins": {"a": 1, "b": [{"installPath": 5}]}}'])
def test_a_list_of_plugins_that_is_none_is_no_trouble(tmp_path: Path, text: str):
    (tmp_path / ".claude/plugins").mkdir(parents=True)
    (tmp_path / ".claude/plugins/installed_plugins.json").write_text(text, encoding="utf-8")
    assert skills_in(folders_for(str(tmp_path), "", None)) == []


@pytest.mark.proves("S3-77")
@pytest.mark.parametrize(
    ("trigger", "prompt", "is_found"),
    [
        ("数据分析", "请帮我做一下数据分析，谢谢", True),
        ("报告", "生成一份季度报告。", True),
        ("報告書", "今月の報告書を作ってください", True),
        ("スプレッドシート", "このスプレッドシートを直して", True),
        ("ｽﾌﾟﾚｯﾄﾞｼｰﾄ", "このスプレッドシートを直して", True),
        ("보고서", "분기 보고서를 작성해 주세요", True),
        ("รายงาน", "ช่วยทำรายงานให้หน่อย", True),
        ("отчёт", "Сделай отчёты за месяц", True),
        ("отчёт", "Пересчёт за месяц", False),
        ("रिपोर्ट", "कृपया रिपोर्ट बनाओ", True),
        ("تقرير", "اكتب تقرير الشهر", True),
        ("präsentation", "Mach eine PRÄSENTATION daraus", True),
        ("pdf", "把这个PDF转换一下", True),
        ("pdf转换", "请做PDF转换", True),
        ("报告", "请运行测试", False),
        ("c++", "rewrite it in c++ please", True),
    ],
)
def test_triggers_match_in_any_script(tmp_path: Path, trigger: str, prompt: str, is_found: bool):
    write_skill(tmp_path, "x1", f"name: x1\ndescription: x\ntriggers:\n  - {trigger}")
    assert bool(select_skills(rank_skills(prompt, skills_in([str(tmp_path)])), 3)) is is_found


@pytest.mark.parametrize(
    ("prompt", "names"),
    [
        ("请根据这些数据生成销售图表和报告", ["图表"]),
        ("我想部署到生产环境并准备回滚", ["部署"]),
        ("四半期の請求書をまとめて送付して", ["invoice"]),
        ("你好", []),
        ("请帮我使用这个文件", []),
        ("ありがとうございます", []),
    ],
)
def test_descriptions_count_where_words_have_no_blanks_between_them(tmp_path: Path, prompt: str, names: list[str]):
    write_skill(tmp_path, "图表", "name: 图表\ndescription: 使用数据生成图表与报告，供用户查看文件")
    write_skill(tmp_path, "部署", "name: 部署\ndescription: 把服务发布到生产环境，失败时回滚")
    write_skill(tmp_path, "invoice", "name: invoice\ndescription: 請求書を作成し、取引先へ送付します")
    assert [each.skill.name for each in select_skills(rank_skills(prompt, skills_in([str(tmp_path)])), 3)] == names


def test_a_skill_that_only_a_person_may_start_needs_its_name(tmp_path: Path):
    head = "name: wipe\ndescription: erase staging databases\ndisable-model-invocation: true\ntriggers: [erase]"
    write_skill(tmp_path, "wipe", head)
    skills = skills_in([str(tmp_path)])
    assert select_skills(rank_skills("erase the staging databases", skills), 3) == []
    assert [each.skill.name for each in select_skills(rank_skills("/wipe", skills), 3)] == ["wipe"]


@pytest.mark.parametrize(
    ("description", "prompt"),
    [
        ("Migrates databases", "migrate the database"),
        ("Migrate a database", "we are migrating both databases"),
        ("Runs database migrations", "migrate the database"),
        ("Merges templates", "merge this template"),
        ("Planning of queries", "plan the query"),
        ("Classifies invoices", "classify this invoice"),
        ("Processes images", "processing an image"),
        ("Analyses caches", "analyse the cache"),
    ],
)
def test_words_are_the_same_in_all_their_forms(tmp_path: Path, description: str, prompt: str):
    write_skill(tmp_path, "helper", f"name: helper\ndescription: {description}")
    write_skill(tmp_path, "other", "name: other\ndescription: Creates and changes files, using what users need.")
    found = select_skills(rank_skills(prompt, skills_in([str(tmp_path)])), 3)
    assert [each.skill.name for each in found] == ["helper"]


@pytest.mark.parametrize(
    ("name", "command", "told"),
    [
        ("pdf-tools", "pdftotext a.pdf", 1),
        ("my_pdf", "qpdf --check a.pdf", 1),
        ("excel", "python -c 'import openpyxl'", 1),
        ("word-documents", "cat a.docx", 1),
        ("pdfish", "pdftotext a.pdf", 0),
    ],
)
def test_a_skill_with_a_word_for_the_format_in_its_name_is_meant_too(
    tmp_path: Path, name: str, command: str, told: int
):
    path = write_skill(tmp_path / ".claude/skills", name, f"name: {name}\ndescription: x")
    with runtime_of(tmp_path) as runtime:
        found = notes(runtime, "PreToolUse", tool_name="Bash", tool_input={"command": command})
    assert [str(path) in each for each in found] == [True] * told
