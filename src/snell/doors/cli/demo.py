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
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from snell.clients import client_named
from snell.engine.explain import explained, shortened
from snell.machine.paths import places
from snell.model.decision import Decision
from snell.model.effects import Verdict
from snell.runtime.house import House
from snell.runtime.journal import FileJournal
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
        return _tell(folder, Paint(sys.stdout.isatty() and "NO_COLOR" not in os.environ))
    finally:
        if args.keep:
            print(f"kept: {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)


class Paint:
    """Colours, on a terminal only."""

    def __init__(self, on: bool) -> None:
        self.bold, self.dim, self.red, self.green, self.yellow = map(self._with(on), (1, 2, 31, 32, 33))

    def _with(self, on: bool) -> Callable[[int], Callable[[str], str]]:
        return lambda code: lambda text: f"\x1b[{code}m{text}\x1b[0m" if on else text


def _tell(folder: Path, paint: Paint) -> int:
    project = folder / "project"
    shutil.copytree(PROJECT, project)
    env = {**os.environ, "SNELL_HOME": str(folder / "home")}
    where = places(env)
    found = review(where, project, env)
    print(
        paint.bold("A project brings hooks of its own."), f"Snell found {len(found.items)}, and runs none of them yet:"
    )
    for item in found.items:
        print(f"  {item.title:<34} {paint.dim(item.file)}")
    print(f"Its owner looks at them and says {paint.bold('snell trust')}. From now on their bytes are pinned.\n")
    approve(where, project, [found.digest], env)
    house = House.for_user(env, where)
    try:
        costs = [_scene(house, title, payload, project, paint) for title, payload in SESSION]
    finally:
        house.close()
    print(paint.bold("\n$ snell why") + paint.dim("      every decision can be asked why"))
    print(explained(FileJournal(where.state).find("last")))
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
        print(f"    {event.tool}  {shortened(payload['tool_input'].get('command') or payload['tool_input'])}")
    for line in _answer(decision, paint):
        print(f"    {line}")
    return seconds


def _answer(decision: Decision, paint: Paint) -> list[str]:
    lines = [
        f"{paint.yellow('rewritten')} to {shortened(change.after)} ({change.because})" for change in decision.changes
    ]
    if decision.verdict is Verdict.DENY:
        lines.append(f"{paint.red('blocked')}   {decision.reason}")
    lines += [f"{paint.green('context')}   {note.text}" for note in decision.notes]
    lines += [f"{paint.yellow('a hook failed, the work goes on')}: {each.text}" for each in decision.failures]
    return lines or [paint.dim("no opinion: the agent's own permission flow decides")]


def _sum_up(costs: list[float], paint: Paint) -> None:
    middle = sorted(costs)[len(costs) // 2] * 1000
    print(f"\n{len(costs)} events, {middle:.1f} ms for the middle one; the first also started the hooks' process.")
    print(f"Write your own: {paint.bold('snell new hook NAME')}, then {paint.bold('snell test')}.")
