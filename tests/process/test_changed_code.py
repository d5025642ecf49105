"""Code of Snell that differs from what was installed is noticed by the daemon and by `snell doctor`."""

import base64
import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import snell
from snell.system.installed_code import check_code
from snell.system.version import our_version
from tests.process.machine import Machine
from tests.waiting import wait_until

pytest_plugins = ("tests.process.machine_fixtures",)
pytestmark = [pytest.mark.real_start, pytest.mark.timeout(300)]  # the copy has no cached bytecode


def install(site: Path) -> Path:
    """Copy the package as an installer would, with its list of files; return the package."""
    package, info = site / "snell", site / f"snell-{our_version()}.dist-info"
    shutil.copytree(Path(snell.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: snell\nVersion: {our_version()}\n", encoding="utf-8")
    rows = [f"{info.name}/RECORD,,"]
    for path in [*(each for each in package.rglob("*") if each.is_file()), info / "METADATA"]:
        digest = base64.urlsafe_b64encode(hashlib.sha256(path.read_bytes()).digest()).rstrip(b"=").decode()
        name = str(path.relative_to(site))
        rows.append(f'"{name}",sha256={digest},1' if "," in name else f"{name},sha256={digest},1")
    (info / "RECORD").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return package


def test_a_changed_a_removed_and_an_added_file_are_found(tmp_path: Path):
    package = install(tmp_path)
    found = check_code(package)
    assert (found.changed, found.exempt, found.error) == ((), "", None)
    assert found.number > 500
    (package / "__pycache__").mkdir()
    (package / "__pycache__" / "x.cpython-311.pyc").write_bytes(b"compiled by Python itself")
    assert check_code(package).changed == ()
    with (package / "engine" / "decide.py").open("a", encoding="utf-8") as file:
        file.write("# changed\n")
    (package / "engine" / "aggregate.py").unlink()
    (package / "added.py").write_text("", encoding="utf-8")
    (package / "shell" / "programs.toml").write_text("", encoding="utf-8")
    changed = ("snell/added.py", "snell/engine/aggregate.py", "snell/engine/decide.py", "snell/shell/programs.toml")
    assert check_code(package).changed == changed


def test_a_missing_list_is_a_difference_and_an_editable_install_is_exempt(tmp_path: Path):
    package = install(tmp_path)
    info = next(tmp_path.glob("*.dist-info"))
    (info / "RECORD").unlink()
    assert check_code(package).changed[0].startswith("RECORD")
    direct = {"url": "file:///x", "dir_info": {"editable": True}}
    (info / "direct_url.json").write_text(json.dumps(direct), encoding="utf-8")
    assert (check_code(package).changed, "editable" in check_code(package).exempt) == ((), True)
    shutil.rmtree(info)
    assert "editable" in check_code(package).exempt


@pytest.fixture
def changed(machine: Machine, tmp_path: Path) -> Iterator[Machine]:
    """A machine whose daemon runs changed code, and has noticed it."""
    package = install(tmp_path / "site")
    with (package / "packs" / "guard" / "rule.py").open("a", encoding="utf-8") as file:
        file.write("# allow everything\n")
    command = [sys.executable, "-m", "snell", "daemon", "run"]
    daemon = subprocess.Popen(command, env=machine.env(PYTHONPATH=str(package.parent)), cwd=tmp_path)
    try:
        wait_until(lambda: (machine.home / "run/snell.sock").exists())
        assert machine.hook({"session_id": "first"})[0] == 0
        noticed = wait_until(lambda: machine.snell("log", "--json", "--event", "ChangedCode"))
        assert "packs/guard/rule.py" in machine.snell("why", json.loads(noticed)["id"])
        assert machine.snell("audit", "verify")
        yield machine
    finally:
        daemon.terminate()
        daemon.wait(timeout=60)


def test_the_client_says_so_once_per_session_and_refuses_when_it_fails_closed(changed: Machine):
    first, second = (changed.hook({"session_id": "later"}) for _ in range(2))
    assert "packs/guard/rule.py" in json.loads(first[1])["systemMessage"]
    assert "rule.py" not in second[1]
    assert "rule.py" in changed.hook({"session_id": "another"})[1]
    code, out, err = changed.hook({"session_id": "later"}, "--fail-closed")
    assert "rule.py" in out + err
    assert code == 2 or json.loads(out)["hookSpecificOutput"]["permissionDecision"] == "deny"
    reported = {"hook_event_name": "PostToolUse", "session_id": "later", "tool_response": {}}
    assert changed.hook(reported, "--fail-closed")[0] == 0
    changed.write(
        "snell.toml", 'packs = ["pack"]\n[[hooks]]\nevent = "PreToolUse"\ncommand = "true"\non_failure = "block"\n'
    )
    code, out, err = changed.hook({"session_id": "later"})
    assert code == 2 or json.loads(out)["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_doctor_reports_changed_code_and_says_that_an_editable_install_is_exempt(machine: Machine, tmp_path: Path):
    package = install(tmp_path / "site")
    (package / "added.py").write_text("", encoding="utf-8")
    command = [sys.executable, "-m", "snell", "doctor", "--json"]
    for env, expected in (({"PYTHONPATH": str(package.parent)}, "fail"), ({}, "ok")):
        done = subprocess.run(command, env=machine.env(**env), cwd=tmp_path, capture_output=True, check=False)
        (check,) = [each for each in json.loads(done.stdout)["checks"] if each["name"] == "code"]
        assert check["status"] == expected
        assert ("snell/added.py" if env else "editable") in check["detail"]
