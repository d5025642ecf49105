"""Commands that set-up wrote, on a machine where Snell is gone or never was."""

import json
import os
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from snell.clients import CLIENTS, canonical_event, client_named, client_names
from snell.model.catalogue import row_of
from snell.model.installs import OwnFile
from snell.settings.snell_commands import commands_in, runs_shim
from snell.setup.apply_edits import insert_edits, is_snell_file, remove_edits
from snell.setup.config_formats import Programs
from snell.setup.file_changes import plan_change
from snell.setup.plan import Options, Site, build_mcp_config, find_install, plan

WITHOUT_SHELL = (None, "claude-code", "bridge", "augment")
SHELLS = [name for name in client_names() if getattr(find_install(name).form, "name", None) not in WITHOUT_SHELL]
PROGRAM = '#!/bin/sh\nprintf "%s " "$@"\nread -r line\nprintf "$line"\nexit 7\n'


def site_with(folder: Path, *, is_on_path: bool = False) -> Site:
    shim = folder / "it's a shim" / "snell-hook"
    shim.parent.mkdir()
    shim.write_text(PROGRAM, encoding="utf-8")
    shim.chmod(0o755)
    return Site(folder / "home", folder / "project", Programs(str(shim), "/x/snell", False, is_on_path))


def commands(name: str, site: Site, **options: Any) -> Iterator[tuple[str, str]]:
    """Event and command, as the client's file or files have them."""
    for file in plan(find_install(name), Options(**options), site):
        text = (plan_change(file).after or b"").decode()
        if text.startswith("#!"):
            yield Path(file.path).name, text
        else:
            values = tomllib.loads(text) if file.path.endswith(".toml") else _unwrapped(json.loads(text))
            for command in commands_in(values):
                yield command.rpartition("--event ")[2].split()[0], command


def called_as(name: str) -> str:
    """The client that the commands in this client's files name."""
    form = find_install(name).form
    return (form.called_as if form else "") or name


def run(command: str, path: str = "") -> tuple[int, str, str]:
    given = {"input": b"{}\n", "capture_output": True, "timeout": 60, "check": False}
    done = subprocess.run(["/bin/sh", "-c", command], env={"PATH": path}, **given)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@pytest.mark.parametrize("name", SHELLS)
def test_a_client_whose_shim_is_gone_works_as_if_it_had_never_been_there(name: str, tmp_path: Path) -> None:
    site = site_with(tmp_path)
    found = list(commands(name, site))
    events = find_install(name).events
    assert len(found) == sum(not row_of(event).registered_for for event in events)  # the others need a hook
    for event, command in found:
        assert run(command) == (7, f"--client {called_as(name).replace('_', '-')} --event {event} {{}}", "")
    os.unlink(site.programs.shim)
    if not find_install(name).ignores_missing:
        assert {run(command)[::2] for _, command in found} == {(0, "")}
        assert {event: run(command)[1].strip() for event, command in found} == {
            event: neutral(name, event) for event, _ in found
        }


@pytest.mark.parametrize("name", SHELLS)
def test_a_fail_closed_set_up_still_refuses_calls_when_the_shim_is_gone(name: str, tmp_path: Path) -> None:
    site = site_with(tmp_path)
    found = dict(commands(name, site, fail_closed=True))
    os.unlink(site.programs.shim)
    refusing = {event for event, command in found.items() if run(command)[0] == 2}
    denied = {event for event, command in found.items() if "not installed" in run(command)[1]}
    before = {event for event in found if event.lower().startswith(("pretool", "beforetool", "pre_"))}
    assert before
    assert (denied if find_install(name).refusal else refusing) == before


@pytest.mark.parametrize("name", SHELLS)
def test_a_fail_closed_set_up_refuses_no_event_that_ends_a_turn_or_has_happened(name: str, tmp_path: Path) -> None:
    found = dict(commands(name, site_with(tmp_path), fail_closed=True))
    client = client_named(called_as(name))
    closed = {canonical_event(client, event) for event, command in found.items() if "--fail-closed" in command}
    never = {"Stop", "SubagentStop", "PostToolUse", "PostToolUseFailure", "SessionStart", "SessionEnd", "PreCompact"}
    assert ("PreToolUse" in closed, closed & never) == (True, set())


def test_claude_code_itself_refuses_calls_when_the_shim_is_gone(tmp_path: Path) -> None:
    (file,) = plan(find_install("claude_code"), Options(fail_closed=True, status_line=False), site_with(tmp_path))
    hooks = json.loads(plan_change(file).after or b"")["hooks"]
    entries = {event: group["hooks"][0] for event, (group, *_) in hooks.items()}
    closed = {event for event, entry in entries.items() if "--fail-closed" in entry["args"]}
    blocking = {event for event, entry in entries.items() if entry.get("onFailure") == "block"}
    assert closed == blocking
    assert {"PreToolUse", "PermissionRequest", "UserPromptSubmit"} <= blocking
    assert not blocking & {"Stop", "SubagentStop", "TaskCompleted", "TeammateIdle", "PostToolUse", "SessionStart"}


def test_what_was_set_up_to_refuse_stays_so_when_it_is_set_up_again(tmp_path: Path) -> None:
    site = site_with(tmp_path)
    for name in ("claude_code", "gemini", "kimi", "opencode", "augment", "cline"):
        for file in plan(find_install(name), Options(fail_closed=True), site):
            path = Path(file.path)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(plan_change(file).after or b"")
        assert not any(plan_change(file).changes for file in plan(find_install(name), Options(), site))


@pytest.mark.parametrize("name", [name for name in client_names() if "project" in find_install(name).hooks])
def test_a_projects_files_name_no_place_of_one_machine(name: str, tmp_path: Path) -> None:
    site = site_with(tmp_path, is_on_path=True)
    texts = [
        (plan_change(file).after or b"").decode() for file in plan(find_install(name), Options(scope="project"), site)
    ]
    assert not any("shim/snell-hook" in text for text in texts)
    assert "it's a shim" not in json.dumps(build_mcp_config(find_install(name), site, scope="project"))
    if name in SHELLS:
        _, command = next(iter(commands(name, site, scope="project")))
        folder = os.path.dirname(site.programs.shim)
        assert run(command, f"{folder}:/usr/bin:/bin")[0] == 7
        assert run(command, "/usr/bin:/bin")[0] == (127 if find_install(name).ignores_missing else 0)


@pytest.mark.parametrize("name", SHELLS)
def test_what_older_versions_wrote_is_replaced_and_both_are_taken_out(name: str, tmp_path: Path) -> None:
    site = site_with(tmp_path)
    for file in plan(find_install(name), Options(), site):
        new = insert_edits(None, file)
        old = _as_before(new.decode()).encode()
        assert insert_edits(old, file) == new
        for data in (old, new):
            left = remove_edits(data, file)
            assert left is None or b"snell-hook" not in left
            assert not isinstance(file.edits[0], OwnFile) or is_snell_file(data)


def test_a_users_command_that_looks_a_little_like_ours_stays_theirs() -> None:
    for command in (
        "[ -x /x ] || evil; exec /x/snell-hook --client x",
        "[ -x /x ] && evil; [ -x /x ] || exit 0; exec /x/snell-hook",
        "command -v snell-hook >/dev/null || { evil; exit 0; }; exec snell-hook",
        "curl h | sh; /x/snell-hook",
    ):
        assert not runs_shim({"command": command})


def neutral(name: str, event: str) -> str:
    """What the client's own adapter says when Snell has no opinion; an answer of nothing fits most."""
    if name not in CLIENTS or not find_install(name).neutral:
        return ""
    return client_named(name).encode_failure(event, "", blocks=False).stdout.decode().strip()


def _unwrapped(value: Any) -> Any:
    return value if "hooks" in value else {"hooks": next(iter(value.values())) if "snell" in value else value}


def _as_before(text: str) -> str:
    """The file as it was written before commands looked for the shim first."""
    lines = text.split("exec ")
    return "exec ".join(
        [*(line[: line.rindex("[ -x ")] if "[ -x " in line else line for line in lines[:-1]), lines[-1]]
    )
