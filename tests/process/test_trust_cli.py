"""`snell trust`, as a process: who may approve, and what is shown."""

import json


def test_a_project_with_instructions_for_clients_only_needs_no_approval(snell):
    (snell.project / "AGENTS.md").write_text("Use tabs.\n", encoding="utf-8")
    code, _, err = snell("trust")
    told = (
        "snell: nothing here needs approval; clients read AGENTS.md themselves, Snell only in a project you approved; "
        "a project has"
    )
    assert (code, told in " ".join(err.split())) == (1, True), err


def test_trust_is_for_people_not_for_agents(snell):
    hook = snell.project / ".snell/hooks/a.py"
    hook.parent.mkdir(parents=True)
    hook.write_text("from snell import informs\n", encoding="utf-8")
    _, out, err = snell("trust")
    digest = json.loads(snell("trust", "--json")[1])["digest"]
    assert "[new]" in out
    assert err.startswith("snell: approving hooks needs a person at a terminal, and this is not known to be one;")
    assert digest not in out
    code, _, err = snell("trust", "--hash", digest, CLAUDECODE="1")
    assert code == 1
    assert "belongs to an agent" in err
    assert snell("trust", "--hash", digest)[0] == 0
    assert snell("trust")[1].splitlines()[-1] == "everything is approved"
    hook.write_text("from snell import judges\n", encoding="utf-8")
    changed = snell("trust", "--list")[1]
    assert "[changed]" in changed
    assert "changed since you approved it: the content of `.snell/hooks/a.py`" in changed
    assert snell("trust", "--revoke")[1].startswith("revoked 1 approval")


def test_trust_makes_everything_in_a_file_visible_and_says_when_it_cannot_run(snell):
    folder = snell.project / ".snell/hooks"
    folder.mkdir(parents=True)
    (folder / "a.py").write_text("x = '\x1b[2J\u202e'\n" + "y = 1\n" * 70, encoding="utf-8")
    (folder / "b.py").write_text("def x(:\n", encoding="utf-8")
    out = snell("trust", "--list")[1].splitlines()
    assert "      | x = '\\u001b[2J\\u202e'" in out
    assert "      | ... and 11 more lines in .snell/hooks/a.py" in out
    assert "      cannot work: .snell/hooks/b.py:1: SyntaxError: invalid syntax" in out


def test_trust_says_what_of_a_definition_changed(snell):
    settings = snell.project / ".snell/snell.toml"
    settings.parent.mkdir()
    for command in ("echo one", "echo two"):
        settings.write_text(f'[[hooks]]\nname = "h"\nevent = "Stop"\ncommand = "{command}"\n', encoding="utf-8")
        if command == "echo one":
            snell("trust", "--hash", json.loads(snell("trust", "--json")[1])["digest"])
    out = snell("trust", "--list")[1].splitlines()
    assert out[3:5] == [
        "      changed since you approved it: its definition",
        '        command was "echo one", is "echo two"',
    ]


def test_trust_does_not_call_a_list_changed_that_is_the_same(snell):
    settings = snell.project / ".snell/snell.toml"
    settings.parent.mkdir()
    for path in ("one", "two"):
        hook = f'webhook = {{ url = "https://x.example/{path}", allowed_env = ["A"] }}'
        settings.write_text(f'[[hooks]]\nname = "h"\nevent = "Stop"\n{hook}\n', encoding="utf-8")
        if path == "one":
            snell("trust", "--hash", json.loads(snell("trust", "--json")[1])["digest"])
    lines = [line.strip() for line in snell("trust", "--list")[1].splitlines()]
    assert [line for line in lines if " was " in line] == [
        'url was "https://x.example/one", is "https://x.example/two"'
    ]
    assert 'allowed_env = ["A"]' in lines
