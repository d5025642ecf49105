"""
A short coding session, told as it goes through Snell, and what that cost.

Everything is real: a project with hooks of its own, a trust decision, `snell-hook`, the daemon that it starts, the
process that runs the project's Python, a command hook, and the store that `why` reads. Only the agent is a script.
"""

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from snell.cli.colours import Colour, Colours
from snell.cli.demo_environment import DemoEnvironment, is_native
from snell.daemon.shim_paths import LONGEST_ADDRESS
from snell.engine.explain import explain, shorten, wrap
from snell.settings.trust import approve, review

EXAMPLE = "snell demo"

# What the scripted agent does, and what a reader should look for.
SESSION: tuple[tuple[str, dict[str, Any]], ...] = (
    ("a session starts", {"hook_event_name": "SessionStart", "source": "startup"}),
    (
        "a person asks for something, with a typo",
        {"hook_event_name": "UserPromptSubmit", "prompt": "improov the error handling"},
    ),
    (
        "the agent runs the tests its own way",
        {"tool_name": "Bash", "tool_input": {"command": "CI=1 pytest 2>&1 | tail -3"}},
    ),
    (
        "the agent edits a file, and a hook breaks",
        {"tool_name": "Edit", "tool_input": {"file_path": "app.py", "old_string": "1", "new_string": "2"}},
    ),
    (
        "the agent writes a secret where it does not belong",
        {"tool_name": "Write", "tool_input": {"file_path": ".env", "content": "API_TOKEN=..."}},
    ),
    (
        "a deletion in disguise",
        {"tool_name": "Bash", "tool_input": {"command": "D=~; echo cm0gLXJmICREIC8= | base64 -d | sh"}},
    ),
    (
        "what only looks like one",
        {"tool_name": "Bash", "tool_input": {"command": "grep -rn 'rm -rf /' docs && rm -rf build"}},
    ),
    (
        "the agent skips the checks",
        {"tool_name": "Bash", "tool_input": {"command": "cd api && git commit -n -m wip"}},
    ),
)

# What one session finds out, and the next one needs.
LEARNED: tuple[str, dict[str, Any]] = (
    "the agent reads in the notes why something is as it is",
    {
        "hook_event_name": "PostToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "cat notes.txt"},
        "tool_response": {
            "stdout": "We decided to use Valkey instead of Redis because of its license, see infra/cache.tf"
        },
    },
)
ASKED: tuple[str, dict[str, Any]] = (
    "another session, some days later",
    {"hook_event_name": "UserPromptSubmit", "session_id": "later", "prompt": "set up the redis cache for the api"},
)

SHORT_FOLDER = "/tmp"

# What the stopwatch sees: a call about which nobody has an opinion, like most.
MEASURED = {"tool_name": "Bash", "tool_input": {"command": "git status"}}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--keep", action="store_true", help="keep the demo's folder and say where it is")


def run(args: argparse.Namespace) -> int:
    folder = Path(tempfile.mkdtemp(prefix="snell-demo-", dir=_parent_folder()))
    try:
        return _tell(folder, Colours.for_stdout())
    finally:
        if args.keep:
            print(f"kept: {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)


def _parent_folder() -> str:
    """TMPDIR, unless the daemon's socket would get too long an address there."""
    usual = tempfile.gettempdir()
    address = os.path.join(usual, "snell-demo-12345678", "home", "run", "snell.sock")
    return usual if len(os.fsencode(address)) <= LONGEST_ADDRESS else SHORT_FOLDER


def _tell(folder: Path, paint: Colours) -> int:
    stage = DemoEnvironment(folder)
    try:
        _introduce(stage, paint)
        start = time.perf_counter()
        records = [_scene(stage, title, event, paint) for title, event in SESSION]
        record = records[-1]
        print(paint.bold("\n$ snell why") + paint.dim("      every decision can be asked why"))
        print(explain(record, paint.of(record)).replace(f"{stage.project}/", ""))
        told = len(records) + _show_memory(stage, paint)
        hooks = sum(len(each["runs"]) for each in stage.send(MEASURED)[0]["rounds"])
        _show_costs(stage.costs(MEASURED), hooks, paint)
        print(f"\n{told} events told, {time.perf_counter() - start:.1f} s in all; the daemon is sent home now.")
    finally:
        stage.close()
    print(f"Write your own: {paint.bold('snell new hook NAME')}, then {paint.bold('snell test')}.")
    if not _is_on_path():
        print("The `snell` command is not on your path yet: README.md says how to install it.")
    return 0


def _show_memory(stage: DemoEnvironment, paint: Colours) -> int:
    """Returns how many events were told."""
    print(
        paint.bold("\nWhat a session finds out is known to the next one") + paint.dim("      once that is switched on")
    )
    _scene(stage, *LEARNED, paint)
    if not stage.until_remembered():
        return 1
    _scene(stage, *ASKED, paint)
    return 2


def _introduce(stage: DemoEnvironment, paint: Colours) -> None:
    found = review(stage.where, stage.project, stage.env)
    print(paint.bold("A project brings hooks of its own."))
    print(f"Snell found {len(found.items)}, and runs none of them yet:")
    for item in found.items:
        print(f"  {item.title:<34} {paint.dim(item.file)}")
    print(f"Its owner looks at them and says {paint.bold('snell trust')}, which pins their bytes.\n")
    approve(stage.where, stage.project, [found.digest], stage.env)
    program = "a native program" if is_native() else "in Python here, for want of a compiler"
    print(f"From now on the agent starts {paint.bold('snell-hook')} for every event ({program}).\n")


def _scene(stage: DemoEnvironment, title: str, event: dict[str, Any], paint: Colours) -> dict[str, Any]:
    record, seconds = stage.send(event)
    started = ", which started the daemon" if event.get("source") == "startup" else ""
    print(f"{paint.bold('-')} {title} {paint.dim(f'({seconds * 1000:.1f} ms{started})')}")
    if "tool_input" in event:
        print(f"    {event['tool_name']} {_object(event['tool_input'])}")
    elif "prompt" in event:
        print(f"    {event['prompt']}")
    for colour, label, text in _answer(record, paint):
        first, *rest = wrap(f"{label} {text}".replace(f"{stage.project}/", ""), 4)
        print("\n".join([first.replace(label, colour(label), 1), *rest]))
    return record


def _object(tool_input: dict[str, Any]) -> str:
    """What a tool works on: its command or its file."""
    return shorten(next(iter(tool_input.values())))


def _answer(record: Mapping[str, Any], paint: Colours) -> list[tuple[Colour, str, str]]:
    lines = [
        (paint.yellow, "rewritten to", f"{shorten(change['after'])} ({change['because']})")
        for change in record.get("changes", ())
    ]
    if record["verdict"] == "deny":
        lines.append((paint.red, "blocked:", record["reason"]))
    lines += [(paint.green, "context:", note["text"]) for note in record.get("notes", ())]
    failures = record.get("failures", ())
    lines += [(paint.yellow, "a hook failed, the work goes on:", each["text"]) for each in failures]
    return lines or [(paint.dim, "no opinion:", "the agent's own permission flow decides")]


def _show_costs(costs: Mapping[str, float], hooks: int, paint: Colours) -> None:
    print(paint.bold("\nWhat a hook costs") + paint.dim("      measured now, taking turns; medians"))
    told = (
        ("true", "/bin/true, which does nothing", str),
        ("snell", f"snell-hook: {hooks} hooks run, a row is kept", paint.green),
        ("python", "one plain Python script that does the same", paint.red),
    )
    for name, what, colour in told:
        ratio = f"{costs[name] / costs['true']:.1f} x"
        print(f"  {colour(f'{costs[name] * 1000:8.2f} ms {ratio:>8}')}   {what}")
    times = costs["python"] / costs["snell"]
    print(f"  Ours ran {hooks} hooks, the script is one, and takes {times:.0f} times as long.")


def _is_on_path() -> bool:
    return bool(shutil.which("snell", path=_path_of_the_shell(Path(sys.executable).parent)))


def _path_of_the_shell(added: Path) -> str:
    """A person's own path: `dev.py` puts the environment's folder in front, and is not an activated shell."""
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    is_ours = "VIRTUAL_ENV" in os.environ and "VIRTUAL_ENV_PROMPT" not in os.environ and folders[0] == str(added)
    return os.pathsep.join(folders[1:] if is_ours else folders)
