"""An installed Snell guards itself: its files, its installation and its processes, asked through `snell-hook`."""

import json
import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.process.machine import CALL, HOOK, Machine
from tests.process.shim_sandbox import BOUND, ROOT

pytest_plugins = ("tests.process.machine_fixtures",)
pytestmark = pytest.mark.real_start


def install(folder: Path) -> Path:
    """A virtual environment with Snell from its wheel; what Snell needs comes from the one that runs the tests."""
    venv.create(folder, with_pip=False, symlinks=True)
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder / "wheel")]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=BOUND)
    (wheel,) = (folder / "wheel").glob("*.whl")
    (site,) = folder.glob("lib/python*/site-packages")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    (shim,) = site.glob("*.data/scripts/snell-hook")
    shim.chmod(0o755)
    shim.rename(folder / "bin/snell-hook")
    (site / "needed.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    return site


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator["Installed"]:
    folder = tmp_path_factory.mktemp("own")
    machine = Machine(folder)
    found = Installed(machine, install(machine.project / ".venv"))
    machine.hook_program = machine.project / ".venv/bin/snell-hook"
    machine.hook()  # starts the daemon
    yield found
    machine.stop()


class Installed:
    """A project whose virtual environment runs Snell."""

    def __init__(self, machine: Machine, site: Path) -> None:
        self.machine, self.site = machine, site

    def verdict(self, tool: str, given: dict[str, Any]) -> str:
        text = json.dumps(given).replace("SITE", str(self.site)).replace("ENV", str(self.machine.project / ".venv"))
        text = text.replace("PID", str(self.machine.pid)).replace("RUN", str(self.machine.home / "run"))
        return verdict(self.machine, tool, json.loads(text))


def verdict(machine: Machine, tool: str, given: dict[str, Any], **more: str) -> str:
    code, out, err = machine.hook({"tool_name": tool, "tool_input": given, **more})
    assert (code, err) == (0, "")
    answer = json.loads(out).get("hookSpecificOutput", {}) if out else {}
    return answer.get("permissionDecision", "free") + (
        " own" if "own-" in answer.get("permissionDecisionReason", "") else ""
    )


DANGEROUS = [
    "sed -i s/deny/allow/ SITE/snell/packs/guard/guard.py",
    "echo > SITE/snell/packs/guard/judge.py",
    "cd SITE/snell/packs/guard && rm guard.py",
    "python3 -c \"open('SITE/snell/engine/decide.py', 'w')\"",
    "sed -i s/deny/allow/ $(ENV/bin/python -c 'import snell; print(snell.__file__)')",
    "echo 'import os; os._exit(0)' > SITE/a.pth",
    "cp /tmp/x SITE/sitecustomize.py",
    "rm -rf SITE/snell-0.1.0.dist-info",
    "rm -rf SITE/msgspec",
    "rm -rf .venv",
    "mv .venv old",
    "ln -sf /bin/true ENV/bin/snell-hook",
    "ln -sf /bin/true .venv/bin/python3",
    "echo > ENV/pyvenv.cfg",
    "chmod -R 000 SITE/snell",
    "chmod -R 000 .venv",
    "sed 's/a/b/w SITE/snell/packs/guard/guard.py' x",
    "awk '{print > \"SITE/x.pth\"}' x",
    "xxd -r x ENV/bin/snell-hook",
    "cp -r /tmp/evil/. ENV",
    "touch SITE/msgspec.py",
    "tar xf /tmp/x.tar -C SITE",
    "find ENV/lib -name '*.py' -delete",
    "ENV/bin/python -m pip uninstall -y snell",
    "pip uninstall -y snell",
    "pip install --force-reinstall snell",
    "ENV/bin/pip uninstall -y msgspec",
    "ENV/bin/pip install msgspec==0.1",
    "source ENV/bin/activate && pip uninstall -y $(pip freeze)",
    "pip install --target SITE other",
    "uv pip install --python ENV/bin/python --upgrade --find-links /tmp/dist snell",
    "pipx uninstall-all",
    "uv tool uninstall snell",
    "kill PID",
    "kill -STOP PID",
    "kill -9 $(cat RUN/daemon.lock)",
    "fuser -k RUN/snell.sock",
    "kill $(pgrep -f snell)",
    "pkill -f snell.runtime",
    "python3 -c 'import os; os.kill(PID, 9)'",
]
FREE = [
    "cat SITE/snell/packs/guard/guard.py",
    "grep -rn deny SITE/snell",
    "cp -r SITE/snell /tmp/copy",
    "tar czf /tmp/copy.tgz -C SITE snell",
    "ENV/bin/python -c 'import snell; print(snell.__file__)'",
    "diff SITE/snell/__init__.py README.md",
    "ls -l ENV/bin SITE",
    "cat ENV/pyvenv.cfg",
    "ENV/bin/python -m pytest -q",
    ". .venv/bin/activate && pip install requests",
    "ENV/bin/pip install -U pytest",
    "pip show -f snell",
    "ENV/bin/pip install 'msgspec>=0.1'",
    "/tmp/other/bin/pip uninstall -y msgspec",
    "uv tool list",
    "find . -name '*.pyc' -delete",
    "rm -rf build dist",
    "mkdir -p src/snell && echo x > src/snell/a.py",
    "git checkout main",
    "touch snell-hook && chmod +x snell-hook",
    "ln -sf ../x bin/snell",
    "npm uninstall snell-js",
    "vim -R SITE/snell/packs/guard/guard.py",
    "pgrep -fa snell",
    "ps -p PID",
    "kill -0 PID",
    "kill 99999999",
    "kill %1",
    "kill $(lsof -t -i:3000)",
    "pkill node",
]


@pytest.mark.parametrize("line", DANGEROUS)
def test_a_command_that_switches_it_off_is_denied(installed: Installed, line: str):
    assert installed.verdict("Bash", {"command": line}) == "deny own"


@pytest.mark.parametrize("line", FREE)
def test_looking_at_it_and_ordinary_work_are_free(installed: Installed, line: str):
    assert installed.verdict("Bash", {"command": line}) == "free"


@pytest.mark.parametrize(
    "path", ["SITE/snell/packs/guard/guard.py", "SITE/x.pth", "ENV/bin/snell-hook", "ENV/pyvenv.cfg"]
)
def test_the_clients_own_tools_read_it_and_do_not_change_it(installed: Installed, path: str):
    edit = {"file_path": path, "old_string": "a", "new_string": "b"}
    calls: list[tuple[str, dict[str, Any]]] = [
        ("Write", {"file_path": path, "content": ""}),
        ("Edit", edit),
        ("MultiEdit", {"file_path": path, "edits": [edit]}),
        ("NotebookEdit", {"notebook_path": path, "new_source": "x"}),
        ("mcp__files__write_file", {"path": path, "content": ""}),
        ("mcp__files__move_file", {"source": path, "destination": "/tmp/x"}),
        ("mcp__ide__replace_text_in_file", {"pathInProject": path, "newText": ""}),
        ("mcp__serena__replace_symbol_body", {"relative_path": path, "body": ""}),
        ("Read", {"file_path": path}),
        ("Grep", {"pattern": "deny", "path": path}),
        ("mcp__files__read_file", {"path": path}),
        ("mcp__files__copy_file", {"sourcePath": path, "destinationPath": "/tmp/x"}),
    ]
    assert [installed.verdict(*call) for call in calls] == ["deny own"] * 8 + ["free"] * 4


PATCH = "*** Begin Patch\n*** Update File: FILE\n@@\n-a\n+b\n*** End Patch"
GONE = "*** Begin Patch\n*** Delete File: FILE\n*** End Patch"
EDITS = [{"filePath": "README.md", "newString": "b"}, {"filePath": "FILE", "oldString": "a", "newString": "b"}]


@pytest.mark.parametrize(
    ("client", "tool", "given"),
    [
        ("codex", "apply_patch", {"command": PATCH}),
        ("codex", "apply_patch", {"input": PATCH}),
        ("codex", "apply_patch", {"command": PATCH, "input": "x"}),
        ("codex", "shell", {"command": ["apply_patch", GONE]}),
        ("codex", "shell", {"command": ["bash", "-lc", f"apply_patch <<'EOF'\n{GONE}\nEOF"]}),
        ("cline", "write_to_file", {"path": "FILE", "content": ""}),
        ("cline", "replace_in_file", {"path": "FILE", "diff": "<<<<<<< SEARCH"}),
        ("cline", "apply_patch", {"input": PATCH}),
        ("vscode", "multi_replace_string_in_file", {"explanation": "x", "replacements": EDITS}),
    ],
)
def test_no_tool_of_any_client_changes_it(installed: Installed, client: str, tool: str, given: dict[str, Any]):
    path = str(installed.site / "snell/packs/guard/guard.py")
    assert _is_refused(installed, client, tool, json.loads(json.dumps(given).replace("FILE", path)))
    assert not _is_refused(installed, client, tool, json.loads(json.dumps(given).replace("FILE", "notes.md")))


def test_a_file_of_the_system_is_not_written_by_clines_own_tool(installed: Installed):
    given = {"path": "/etc/passwd", "content": "x"}
    assert [_is_refused(installed, "cline", tool, given) for tool in ("write_to_file", "read_file")] == [True, False]


def _is_refused(installed: Installed, client: str, tool: str, given: dict[str, Any]) -> bool:
    machine = installed.machine
    call = {**CALL, "cwd": str(machine.project), "tool_name": tool, "tool_input": given}
    if client == "cline":
        root = {"rootPath": str(machine.project)}
        call = {"hookName": "tool_call", "workspaceInfo": root, "tool_call": {"name": tool, "input": given}}
    done = subprocess.run(
        [machine.hook_program, "--client", client],
        input=json.dumps(call).encode(), env=machine.env(), cwd=machine.project, capture_output=True, timeout=BOUND,
    )  # fmt: skip
    return '"deny"' in done.stdout.decode() or '"cancel":true' in done.stdout.decode().replace(" ", "")


def test_a_tool_of_a_server_does_not_end_it(installed: Installed):
    pid = installed.machine.pid
    calls: list[tuple[str, dict[str, Any]]] = [
        ("mcp__desktop-commander__kill_process", {"pid": pid}),
        ("mcp__process__kill", {"pid": str(pid), "signal": "SIGSTOP"}),
        ("mcp__system__terminateProcess", {"processId": pid}),
        ("mcp__process__kill", {"pid": 99999999}),
        ("mcp__process__get_info", {"pid": pid}),
    ]
    assert [installed.verdict(*call) for call in calls] == ["deny own"] * 3 + ["free"] * 2


def test_a_worker_of_the_daemon_is_guarded_by_its_number(installed: Installed):
    bad = {"command": "bad"}
    assert installed.verdict("Bash", bad) == "deny"  # the user's own Python is run in a child
    children = Path(f"/proc/{installed.machine.pid}/task/{installed.machine.pid}/children").read_text("ascii").split()
    assert children
    assert [installed.verdict("Bash", {"command": f"kill -9 {child}"}) for child in children] == ["deny own"] * len(
        children
    )


def test_the_daemon_is_guarded_by_its_number_where_another_process_decides(installed: Installed):
    machine = installed.machine
    call = {**CALL, "cwd": str(machine.project), "tool_input": {"command": f"kill {machine.pid}"}}
    done = subprocess.run(
        [machine.project / ".venv/bin/python", "-m", "snell", "hook", "--client", "claude-code"],
        input=json.dumps(call).encode(), env=machine.env(), cwd=machine.project, capture_output=True, timeout=BOUND,
    )  # fmt: skip
    assert '"deny"' in done.stdout.decode()


@pytest.mark.skipif(not HOOK.exists(), reason="snell-hook is not installed beside this Python")
def test_the_clone_of_an_editable_install_is_changed_by_sessions_that_work_on_it_alone(machine: Machine):
    given = {"file_path": f"{ROOT}/src/snell/packs/guard/guard.py", "content": ""}
    line = {"command": f"sed -i s/a/b/ {ROOT}/src/snell/packs/guard/guard.py"}
    found = [
        [verdict(machine, tool, text, cwd=cwd) for tool, text in (("Write", given), ("Bash", line))]
        for cwd in (str(ROOT), str(machine.project))
    ]
    assert found == [["free", "free"], ["deny own", "deny own"]]
    assert verdict(machine, "Bash", {"command": f"kill {machine.pid}"}, cwd=str(ROOT)) == "deny own"


def test_snell_check_knows_the_program_that_runs_it(installed: Installed):
    python = installed.machine.project / ".venv/bin/python"
    lines = [{"command": f"{verb} {installed.site}/snell/__init__.py"} for verb in ("echo >", "cat")]
    done = subprocess.run(
        [python, "-m", "snell", "check", "command", "--jsonl"],
        input="".join(f"{json.dumps(line)}\n" for line in lines).encode(), env=installed.machine.env(),
        capture_output=True, timeout=BOUND, check=True,
    )  # fmt: skip
    assert [json.loads(line)["verdict"] for line in done.stdout.splitlines()] == ["deny", "allow"]
