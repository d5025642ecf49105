"""`snell check secrets` and `snell check signal`, row by row and for people."""

import pytest

from snell.cli.checks import secrets, signal
from snell.cli.main import main
from snell.model.errors import SnellError

TOKEN = "gh" + "p_" + "q7Rz2Lw9Xk4Tn8Vb3Hd6Jm1Pc5Yg0FsAbCd9"


def test_places_are_characters_of_the_text_that_was_asked_about() -> None:
    text = f"Zürich 🎣 {TOKEN}, and a good deal of other words around it to keep"
    assert secrets.check_row({"id": 1, "text": text}) == {
        "redacted": "Zürich 🎣 [redacted:github-token], and a good deal of other words around it to keep",
        "findings": [{"type": "github-token", "start": 9, "end": 9 + len(TOKEN)}],
        "skip": False,
    }


def test_a_text_without_secrets_comes_back_as_it_was() -> None:
    assert secrets.check_row({"text": ""}) == {"redacted": "", "findings": [], "skip": False}


def test_a_signal_has_a_tier_a_score_and_types() -> None:
    said = "The issue was the clock. We decided to use a counter."
    assert signal.check_row({"text": said}) == {"tier": 1, "score": 0.8, "types": ["decision", "error"]}
    assert signal.check_row({"text": "store.save(note)"}) == {"tier": 3, "score": 0.0, "types": []}


@pytest.mark.parametrize("row", [{}, {"text": None}, {"text": 5}, {"text": ["a"]}])
@pytest.mark.parametrize("check_row", [secrets.check_row, signal.check_row])
def test_a_row_without_text_is_an_error(check_row, row) -> None:
    with pytest.raises(SnellError, match="`text` is"):
        check_row(row)


def test_a_person_sees_what_is_left_and_what_was_found(capsys) -> None:
    assert main(["check", "secrets", "DB_PASSWORD=hunter2 make"]) == 1
    assert capsys.readouterr().out == "DB_PASSWORD=[redacted:password] make\n  password, characters 12 to 19\n"
    assert main(["check", "secrets", "make"]) == 0
    assert capsys.readouterr().out == "make\n  no secret found\n"


def test_a_person_sees_whether_it_is_worth_keeping(capsys) -> None:
    assert main(["check", "signal", "we decided to keep the monolith"]) == 0
    assert capsys.readouterr().out == "worth remembering: tier 1, score 0.80\n  decision\n"
    assert main(["check", "signal", "ok"]) == 1
    assert capsys.readouterr().out == "not worth remembering: tier 3, score 0.00\n"


def test_a_prompt_finds_the_skills_that_it_would_find_in_a_session(capsys, tmp_path, monkeypatch) -> None:
    for folder, name in ((tmp_path / "home/.kiro/skills", "tidy"), (tmp_path / "work/.claude/skills", "mine")):
        (folder / name).mkdir(parents=True)
        (folder / name / "SKILL.md").write_text(f"---\nname: {name}\ntriggers: [mop]\n---\n", encoding="utf-8")
    settings = tmp_path / "snell/config/snell.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text('[pack.skills.triggers]\ntidy = ["sweep"]\n', encoding="utf-8")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("SNELL_HOME", str(tmp_path / "snell"))
    monkeypatch.chdir(tmp_path / "work")
    assert main(["check", "skill", "sweep and mop"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "*  1.50  tidy                     trigger `sweep`",
        "skills with * would be added to the prompt",
        "this project is not trusted (`snell trust`), so its own skills were not searched",
    ]
