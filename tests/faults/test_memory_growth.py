"""The daemon's memory: many projects, many changes of settings, many versions of a Python file."""

from pathlib import Path

from snell.system.process_table import Process, processes
from tests.faults.counts import Figure, times
from tests.process.machine import PACK, Machine

pytest_plugins = ("tests.process.machine_fixtures",)

WARM = 100  # projects; by then everything is imported that an event needs, and what is remembered is full
ANSWERS = 1_100  # more than the daemon keeps for a client that asks again
MOST_GROWTH = 10_000  # KB, whatever the number of projects and changes
BALLAST = 100  # KB, by which a version of a file is noticed in the size of the process that loaded it
KEPT_VERSIONS = 130


@times("number", 150, 2_000)
def test_the_daemon_forgets_projects_and_settings_of_the_past(machine: Machine, number: int, figure: Figure) -> None:
    warm_up(machine)
    before = resident(machine.pid)
    for each in range(WARM, WARM + number):
        visit(machine, each)
    between = resident(machine.pid)
    changes = number * 5 // 2
    for each in range(1, changes + 1):
        change_settings(machine, each)
    grown = resident(machine.pid) - before
    figure(figure="daemon memory", projects=number, grown_kb=between - before, changes=changes, then_grown_kb=grown)
    assert grown < MOST_GROWTH


@times("number", 250, 2_000)
def test_the_process_of_python_hooks_forgets_old_versions_of_a_file(
    machine: Machine, number: int, figure: Figure
) -> None:
    sizes = []
    machine.hook()
    for version in range(number):
        ballast = f'\nBALLAST = "{version} {"x" * BALLAST * 1_024}"\n'
        machine.write("pack/rules.py", PACK.format(reason=f"reason {version}") + ballast)
        answer = machine.send({"tool_input": {"command": "bad"}})
        assert answer is not None
        assert f"reason {version}".encode() in answer.stdout
        if version in (10, number - 1):
            sizes.append(max(map(resident, children(machine.pid))))
    figure(figure="memory of Python hooks", versions=number, grown_kb=sizes[1] - sizes[0])
    assert sizes[1] - sizes[0] < KEPT_VERSIONS * BALLAST


def warm_up(machine: Machine) -> None:
    machine.hook()
    for number in range(ANSWERS):
        machine.send(request_id=f"{number:032x}")
    for number in range(WARM):
        visit(machine, number)
    change_settings(machine, 0)


def visit(machine: Machine, number: int) -> None:
    """A session in a project with settings of its own."""
    project = machine.project / f"p{number}"
    (project / ".snell").mkdir(parents=True)
    (project / ".snell/snell.toml").write_text(hook_for(f"Write{number}"), encoding="utf-8")
    session = {"cwd": str(project), "session_id": f"session {number}"}
    machine.send({**session, "hook_event_name": "SessionStart", "source": "startup"})
    machine.send(session)


def change_settings(machine: Machine, number: int) -> None:
    """The user's own hooks and the options of a pack."""
    machine.write("snell.toml", f"[pack.sessions]\nheartbeat = {number + 1}\n{hook_for(f'Edit{number}')}")
    machine.send({"session_id": f"changed {number}"})


def hook_for(matcher: str) -> str:
    return f'[[hooks]]\nevent = "PreToolUse"\nmatcher = "{matcher}"\ncommand = "true {matcher}"\n'


def resident(pid: int) -> int:
    """The memory of a process, in KB."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:"))


def children(pid: int) -> list[int]:
    return [each.pid for each in processes() if isinstance(each, Process) and each.parent == pid]
