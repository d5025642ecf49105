"""Other people's files: changed with care, and given back."""

import json
import os
import shutil
import threading
from pathlib import Path

import pytest

from snell.clients import client_names
from snell.model.catalogue import CATALOGUE
from snell.model.errors import SetupError
from snell.model.installs import SCOPES, FileEdit, Member, SetupScope
from snell.setup.file_changes import find_other_hooks, install, plan_change, plan_removal, uninstall
from snell.setup.plan import Options, find_install, plan
from tests.unit.runtime.runtime_helpers import every_install, places_in, set_up, site_in, snapshot, take_out

EVERYTHING = Options(mcp=True, rules=True, wanted=frozenset(CATALOGUE))


def member(path: Path, version: int = 1) -> FileEdit:
    return FileEdit(str(path), "json", (Member(("snell",), ours(version)),), "hooks")


def ours(version: int = 1) -> dict[str, object]:
    return {"command": "/opt/snell-hook", "version": version}


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("name", client_names())
def test_set_up_and_taken_out_a_home_is_byte_for_byte_what_it_was(name: str, scope: SetupScope, tmp_path: Path) -> None:
    site, state = site_in(tmp_path), places_in(tmp_path).state
    options = Options(scope=scope, mcp=True, rules=True)
    _furnish(site.home)
    _furnish(site.project)
    before = snapshot(site.home), snapshot(site.project)
    set_up(find_install(name), options, site, state)
    files = plan(find_install(name), options, site)
    assert all(os.path.exists(file.path) for file in files)
    assert not any(plan_change(file).changes for file in files)
    take_out(find_install(name), options, site, state)
    assert (snapshot(site.home), snapshot(site.project)) == before
    assert list((state / "installs").glob("*/record.json")) == []


def test_all_clients_together_leave_a_home_as_it_was_whatever_the_order(tmp_path: Path) -> None:
    site, state = site_in(tmp_path), places_in(tmp_path).state
    _furnish(site.home)
    before = snapshot(site.home)
    for client in every_install():
        set_up(client, EVERYTHING, site, state)
    assert snapshot(site.home) != before
    for client in every_install():
        take_out(client, EVERYTHING, site, state)
    assert snapshot(site.home) == before


def test_what_two_clients_share_stays_until_the_second_one_goes(tmp_path: Path) -> None:
    site, state = site_in(tmp_path), places_in(tmp_path).state
    copilot, vscode = find_install("copilot"), find_install("vscode_copilot")
    for client in (copilot, vscode):
        set_up(client, Options(), site, state)
    shared = site.home / ".copilot" / "hooks" / "snell.json"
    take_out(copilot, Options(), site, state)
    assert shared.exists()
    take_out(vscode, Options(), site, state)
    assert snapshot(site.home) == {}


def test_what_was_written_meanwhile_stays_when_ours_goes(tmp_path: Path) -> None:
    path, state = tmp_path / "settings.json", tmp_path / "state"
    path.write_bytes(b'{\n  "a": 1\n}')
    install(plan_change(member(path)), "x", state)
    path.write_bytes(path.read_bytes().replace(b'"a": 1', b'"a": 2, "b": 3'))
    uninstall(plan_removal(member(path), {"x"}, state), "x", state)
    assert path.read_bytes() == b'{\n  "a": 2, "b": 3\n}'


def test_a_file_that_was_made_for_us_goes_even_if_it_was_reformatted(tmp_path: Path) -> None:
    path, state = tmp_path / "new" / "deep" / "settings.json", tmp_path / "state"
    install(plan_change(member(path)), "x", state)
    path.write_text(json.dumps({"snell": ours()}), encoding="utf-8")
    uninstall(plan_removal(member(path), {"x"}, state), "x", state)
    assert not (tmp_path / "new").exists()


def test_a_newer_version_of_ours_still_gives_the_first_bytes_back(tmp_path: Path) -> None:
    path, state = tmp_path / "settings.json", tmp_path / "state"
    path.write_bytes(b'{"a":   1}\n')
    for value in (1, 2, 3):
        install(plan_change(member(path, value)), "x", state)
    uninstall(plan_removal(member(path), {"x"}, state), "x", state)
    assert path.read_bytes() == b'{"a":   1}\n'


def test_without_our_records_ours_is_found_and_taken_out(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(b'{"a": 1}')
    install(plan_change(member(path)), "x", tmp_path / "state")
    uninstall(plan_removal(member(path), {"x"}, tmp_path / "other"), "x", tmp_path / "other")
    assert path.read_bytes() == b'{"a": 1}'


def test_a_file_that_changed_after_it_was_shown_is_not_written(tmp_path: Path) -> None:
    path, state = tmp_path / "settings.json", tmp_path / "state"
    path.write_bytes(b'{"a": 1}')
    change = plan_change(member(path))
    path.write_bytes(b'{"a": 2}')
    with pytest.raises(SetupError, match="changed since the plan was shown; run set-up again"):
        install(change, "x", state)
    assert path.read_bytes() == b'{"a": 2}'


def test_what_another_set_up_has_just_written_need_not_be_written_again(tmp_path: Path) -> None:
    path, state = tmp_path / "settings.json", tmp_path / "state"
    path.write_bytes(b'{"a": 1}')
    first, second = plan_change(member(path)), plan_change(member(path))
    install(first, "x", state)
    install(second, "y", state)
    uninstall(plan_removal(member(path), {"x"}, state), "x", state)
    assert b"snell" in path.read_bytes()
    uninstall(plan_removal(member(path), {"y"}, state), "y", state)
    assert path.read_bytes() == b'{"a": 1}'


def test_a_link_stays_a_link_and_a_mode_stays_a_mode(tmp_path: Path) -> None:
    real, link, state = tmp_path / "dotfiles.json", tmp_path / "settings.json", tmp_path / "state"
    real.write_bytes(b"{}")
    real.chmod(0o640)
    link.symlink_to("dotfiles.json")
    install(plan_change(member(link)), "x", state)
    assert os.readlink(link) == "dotfiles.json"
    assert (json.loads(real.read_bytes()), real.stat().st_mode & 0o777) == ({"snell": ours()}, 0o640)


def test_a_link_to_nowhere_gets_its_file(tmp_path: Path) -> None:
    link, state = tmp_path / "settings.json", tmp_path / "state"
    link.symlink_to(tmp_path / "later" / "file.json")
    install(plan_change(member(link)), "x", state)
    assert json.loads((tmp_path / "later" / "file.json").read_bytes()) == {"snell": ours()}
    uninstall(plan_removal(member(link), {"x"}, state), "x", state)
    assert link.is_symlink()
    assert not (tmp_path / "later").exists()


def test_a_read_only_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(b"{}")
    path.chmod(0o444)
    with pytest.raises(SetupError, match="is read-only; make it writable with `chmod u\\+w`; nothing was changed"):
        install(plan_change(member(path)), "x", tmp_path / "state")
    assert path.read_bytes() == b"{}"


def test_a_configuration_that_is_a_directory_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "settings.json").mkdir()
    with pytest.raises(SetupError, match="is a directory, not a file; move it elsewhere"):
        plan_change(member(tmp_path / "settings.json"))


def test_a_folder_that_is_a_file_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "config").write_bytes(b"")
    with pytest.raises(SetupError, match="cannot be written: not a directory"):
        install(plan_change(member(tmp_path / "config" / "settings.json")), "x", tmp_path / "state")


def test_a_malformed_file_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(b'{\n  "a": \n}')
    with pytest.raises(SetupError, match=r"settings\.json:3: a value is missing here; use text in double quotes"):
        plan_change(member(path))


def test_what_a_killed_set_up_left_beside_the_file_is_swept_away(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(b"{}")
    (tmp_path / f".settings.json.{'0' * 16}.tmp").write_bytes(b"half")
    install(plan_change(member(path)), "x", tmp_path / "state")
    assert sorted(os.listdir(tmp_path)) == ["settings.json", "state"]


def test_two_set_ups_at_once_lose_nothing(tmp_path: Path) -> None:
    path, state = tmp_path / "settings.json", tmp_path / "state"
    path.write_bytes(b"{}")
    problems: list[SetupError] = []

    def add(number: int) -> None:
        file = FileEdit(str(path), "json", (Member((f"n{number}",), number),), "hooks")
        for _ in range(200):
            try:
                install(plan_change(file), "x", state)
            except SetupError as error:
                problems.append(error)
            else:
                break

    threads = [threading.Thread(target=add, args=(number,)) for number in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(60)
    assert json.loads(path.read_bytes()) == {f"n{number}": number for number in range(8)}
    assert all("changed since the plan was shown" in str(each) for each in problems)


def test_hooks_of_others_are_reported(tmp_path: Path) -> None:
    site = site_in(tmp_path)
    _furnish(site.home)
    claude = plan(find_install("claude_code"), Options(), site)[0]
    assert find_other_hooks(claude) == ["Stop: say done"]
    copilot = plan(find_install("copilot"), Options(), site)[0]
    (site.home / ".copilot" / "hooks").mkdir(parents=True)
    (site.home / ".copilot" / "hooks" / "mine.json").write_bytes(b"{}")
    assert find_other_hooks(copilot) == [str(site.home / ".copilot" / "hooks" / "mine.json")]


def _furnish(folder: Path) -> None:
    """Files as a user may have them, in odd but valid shapes."""
    files = {
        ".claude/settings.json": '{\r\n\t"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}'
        ',\r\n\t"statusLine": {"type": "command", "command": "my-line | cat", "padding": 0}\r\n}',
        ".claude.json": '{"numStartups":12,"mcpServers":{"other":{"command":"x"}}}',
        ".codex/config.toml": '# mine\nmodel = "x"\n\n[mcp_servers.other]\ncommand = "y" # why\n',
        ".cursor/hooks.json": '{"version":1,"hooks":{"stop":[{"command":"say done"}]}}',
        ".gemini/settings.json": '// with a comment\n{\n    "theme": "dark", // dim\n}\n',
        ".gemini/GEMINI.md": "# Rules",
        ".kimi-code/config.toml": 'theme = "dark"\n[[hooks]]\nevent = "Stop"\ncommand = "x"',
        ".config/goose/config.yaml": "extensions:\n  dev:\n    type: builtin # mine\nGOOSE_MODE: auto\n",
        ".config/opencode/opencode.json": '{"$schema": "x"}',
        ".config/crush/crush.json": "{}",
        ".factory/hooks.json": "{}\n\n",
        "AGENTS.md": "# Rules\r\n",
        "CLAUDE.md": "",
    }
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())


def test_a_file_that_held_only_ours_goes_even_when_there_is_no_record_of_making_it(tmp_path: Path) -> None:
    site, client = site_in(tmp_path), find_install("cursor")
    set_up(client, Options(), site, tmp_path / "state")
    shutil.rmtree(tmp_path / "state")
    take_out(client, Options(), site, tmp_path / "state")
    assert not (site.home / ".cursor" / "hooks.json").exists()
