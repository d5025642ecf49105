"""
A short coding session, told as it goes through Snell.

Everything is real: a project with hooks of its own, a trust decision, the engine, the child process that runs the
project's Python, a command hook, and the journal that `why` reads. Only the agent is a script.
"""

import argparse
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import msgspec

from snell.clients import client_named
from snell.doors.paint import Colour, Paint
from snell.engine.explain import explained, shortened, wrapped
from snell.machine.paths import places
from snell.model.decision import Decision
from snell.model.effects import Verdict
from snell.runtime.house import House, database_of
from snell.runtime.store_journal import StoreJournal
from snell.settings.trust import approve, review

EXAMPLE = "snell demo"

PROJECT = Path(__file__).parent.parent / "demo_project"

# What the scripted agent does, and what a reader should look for.
SESSION: tuple[tuple[str, dict[str, Any]], ...] = (
    ("a session starts", {"hook_event_name": "SessionStart", "source": "startup"}),
    ("the agent runs the tests its own way", {"tool_name": "Bash", "tool_input": {"command": "pytest -q"}}),
    (
        "the agent edits a file, and a hook breaks",
        {"tool_name": "Edit", "tool_input": {"file_path": "app.py", "old_string": "1", "new_string": "2"}},
    ),
    (
        "the agent wants to write a secret",
        {"tool_name": "Write", "tool_input": {"file_path": ".env", "content": "TOKEN=..."}},
    ),
    (
        "the agent wants to overwrite a branch",
        {"tool_name": "Bash", "tool_input": {"command": "cd api && git push --force origin main"}},
    ),
)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--keep", action="store_true", help="keep the demo's folder and say where it is")


def run(args: argparse.Namespace) -> int:
    folder = Path(tempfile.mkdtemp(prefix="snell-demo-"))
    try:
        return _tell(folder, Paint.for_stdout())
    finally:
        if args.keep:
            print(f"kept: {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)


def _tell(folder: Path, paint: Paint) -> int:
    project = folder / "project"
    shutil.copytree(PROJECT, project)
    env = {**os.environ, "SNELL_HOME": str(folder / "home")}
    where = places(env)
    found = review(where, project, env)
    print(paint.bold("A project brings hooks of its own."))
    print(f"Snell found {len(found.items)}, and runs none of them yet:")
    for item in found.items:
        print(f"  {item.title:<34} {paint.dim(item.file)}")
    print(f"Its owner looks at them and says {paint.bold('snell trust')}, which pins their bytes.\n")
    approve(where, project, [found.digest], env)
    with House.for_user(env, where) as house:
        costs = [_scene(house, title, payload, project, paint) for title, payload in SESSION]
    record = StoreJournal(database_of(where)).find("last")
    print(paint.bold("\n$ snell why") + paint.dim("      every decision can be asked why"))
    print(explained(record, paint.of(record)))
    _sum_up(costs, paint)
    return 0


def _scene(house: House, title: str, payload: dict[str, Any], project: Path, paint: Paint) -> float:
    client = client_named("claude-code")
    full = {"hook_event_name": "PreToolUse", "session_id": "demo", "cwd": str(project), **payload}
    event = client.decode(msgspec.json.encode(full))
    start = time.perf_counter()
    decision = house.decide(event)
    seconds = time.perf_counter() - start
    print(f"{paint.bold('-')} {title} {paint.dim(f'({seconds * 1000:.1f} ms)')}")
    if event.tool:
        print(f"    {event.tool} {_object(payload['tool_input'])}")
    for colour, label, text in _answer(decision, paint):
        first, *rest = wrapped(f"{label} {text}".replace(f"{project}/", ""), 4)
        print("\n".join([first.replace(label, colour(label), 1), *rest]))
    return seconds


def _object(tool_input: dict[str, Any]) -> str:
    """What a tool works on: its command or its file."""
    return shortened(next(iter(tool_input.values())))


def _answer(decision: Decision, paint: Paint) -> list[tuple[Colour, str, str]]:
    lines = [
        (paint.yellow, "rewritten to", f"{shortened(change.after)} ({change.because})") for change in decision.changes
    ]
    if decision.verdict is Verdict.DENY:
        lines.append((paint.red, "blocked:", decision.reason))
    lines += [(paint.green, "context:", note.text) for note in decision.notes]
    lines += [(paint.yellow, "a hook failed, the work goes on:", each.text) for each in decision.failures]
    return lines or [(paint.dim, "no opinion:", "the agent's own permission flow decides")]


def _sum_up(costs: list[float], paint: Paint) -> None:
    middle = sorted(costs)[len(costs) // 2] * 1000
    print(f"\n{len(costs)} events, {middle:.1f} ms for the middle one; the first also started the hooks' process.")
    print(f"Write your own: {paint.bold('snell new hook NAME')}, then {paint.bold('snell test')}.")
    if activate := _activation():
        print(f"The `snell` command is not on your path yet: {paint.bold(activate)}")


def _activation() -> str:
    """How to get the command onto the path, where it is not and we know how."""
    program = Path(sys.executable)
    script = program.with_name("activate")
    if shutil.which("snell", path=_path_of_the_shell(program.parent)) or not script.is_file():
        return ""
    here = os.path.relpath(script)
    return f"source {script if here.startswith('..') else here}"


def _path_of_the_shell(added: Path) -> str:
    """A person's own path: `dev.py` puts the environment's folder in front, and is not an activated shell."""
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    is_ours = "VIRTUAL_ENV" in os.environ and "VIRTUAL_ENV_PROMPT" not in os.environ and folders[0] == str(added)
    return os.pathsep.join(folders[1:] if is_ours else folders)
