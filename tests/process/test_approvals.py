"""A client that skips hooks until its user has approved them is not reported as set up before that."""

import json
from pathlib import Path

import pytest

from snell.setup.client_gates import hook_digests
from tests.process.test_setup_cli import Owner

SKIPPED = "not approved: the client skips these hooks"


@pytest.fixture
def owner(tmp_path: Path) -> Owner:
    return Owner(tmp_path)


def told(owner: Owner, client: str, *words: str) -> tuple[int, bool, bool]:
    """The exit code of --check, and whether it and the doctor say that the hooks are skipped."""
    code, out, _ = owner.snell("setup", client, "--check", *words)
    doctor = " ".join(owner.snell("doctor", "--all")[1].split())
    owner.stop_daemon()
    lines = [each for each in doctor.split(" warn ") if each.startswith(f"client: {client}")]
    return code, SKIPPED in out, any(SKIPPED in each for each in lines)


GIVEN, MISSING = (0, False, False), (1, True, True)


@pytest.mark.parametrize(
    ("settings", "folders", "said"),
    [
        ({}, {}, MISSING),
        ({}, {"{project}": "TRUST_FOLDER"}, GIVEN),
        ({}, {"{project}": "TRUST_PARENT"}, GIVEN),
        ({}, {"{parent}": "TRUST_FOLDER"}, GIVEN),
        ({}, {"{parent}": "TRUST_FOLDER", "{project}": "DO_NOT_TRUST"}, MISSING),
        ({"security": {"folderTrust": {"enabled": False}}}, {}, GIVEN),
        ({}, [None], MISSING),
    ],
)
def test_gemini_runs_hooks_in_a_folder_that_it_trusts(owner: Owner, settings: object, folders: object, said: object):
    base = owner.user_home / ".gemini"
    base.mkdir()
    (base / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
    text = json.dumps(folders).replace("{project}", str(owner.project)).replace("{parent}", str(owner.project.parent))
    (base / "trustedFolders.json").write_text(text, encoding="utf-8")
    assert owner.snell("setup", "gemini", "--yes")[0] == 0
    assert told(owner, "gemini") == said


def test_grok_runs_a_projects_hooks_once_the_folder_is_trusted(owner: Owner) -> None:
    base = owner.user_home / ".grok"
    base.mkdir()
    assert owner.snell("setup", "grok", "--yes")[0] == 0
    assert told(owner, "grok") == GIVEN  # the user's own hooks need no trust
    assert owner.snell("setup", "grok", "--scope", "project", "--yes")[0] == 0
    assert told(owner, "grok", "--scope", "project") == MISSING
    table = f'[folders."{owner.project}"]\ntrusted = '
    for word, said in (("false", MISSING), ("true", GIVEN)):
        (base / "trusted_folders.toml").write_text(f"{table}{word}\n", encoding="utf-8")
        assert told(owner, "grok", "--scope", "project") == said


@pytest.mark.parametrize("is_project", [False, True], ids=["user", "project"])
def test_codex_runs_hooks_whose_digests_its_user_approved(owner: Owner, is_project: bool) -> None:
    words = ["--scope", "project"] if is_project else []
    assert owner.snell("setup", "codex", "--yes", *words)[0] == 0
    assert told(owner, "codex", *words) == MISSING
    path = (owner.project if is_project else owner.user_home) / ".codex" / "hooks.json"
    digests = dict(hook_digests(json.loads(path.read_bytes())["hooks"]))
    approved = "".join(f'[hooks.state."{path}:{at}"]\ntrusted_hash = "{each}"\n' for at, each in digests.items())
    trusted = f'[projects."{owner.project}"]\ntrust_level = "trusted"\n' if is_project else ""
    config = owner.user_home / ".codex" / "config.toml"
    config.write_text(trusted + approved, encoding="utf-8")
    assert told(owner, "codex", *words) == GIVEN
    config.write_text(trusted + approved.replace(":stop:0:0", ":stop:1:0"), encoding="utf-8")
    assert told(owner, "codex", *words) == MISSING
    config.write_text(approved if is_project else "[hooks]\nstate = 3\n", encoding="utf-8")
    assert told(owner, "codex", *words) == MISSING
