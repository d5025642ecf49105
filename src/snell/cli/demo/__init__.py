"""
Run a short simulated coding session through Snell, and measure what a hook costs.

Only the agent is simulated. The rest is real: a project with its own hooks, its approval, `snell-hook`, the daemon
that it starts, the process that runs the project's Python hooks, a command hook, and the store that `why` reads.
"""

import argparse
import contextlib
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec

from snell.cli.call_operation import poll
from snell.cli.confirmation import confirm
from snell.cli.health.program import shim_path
from snell.cli.terminal import Colour, Colours
from snell.daemon.client import DaemonError, ask
from snell.daemon.shim_connection import LONGEST_ADDRESS
from snell.engine.explain import explain, shorten, wrap
from snell.model.errors import StoreError
from snell.runtime.app import database_of
from snell.runtime.database_journal import StoreJournal
from snell.settings.trust import approve, review
from snell.system.paths import Places, places
from snell.system.process_table import process_at

HERE = Path(__file__).parent

SHORT_FOLDER = "/tmp"


def run(args: argparse.Namespace) -> int:
    folder = Path(tempfile.mkdtemp(prefix="snell-demo-", dir=_parent_folder()))
    try:
        return _show_session(folder, Colours.for_stdout(), is_removed=not args.keep)
    finally:
        if args.keep:
            print(f"kept: {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)


def _parent_folder() -> str:
    """Return TMPDIR, or /tmp if the path of the daemon's socket would be too long."""
    usual = tempfile.gettempdir()
    address = os.path.join(usual, "snell-demo-12345678", "home", "run", "snell.sock")
    return usual if len(os.fsencode(address)) <= LONGEST_ADDRESS else SHORT_FOLDER


def _show_session(folder: Path, paint: Colours, *, is_removed: bool) -> int:
    demo, script = DemoEnvironment(folder), tomllib.loads((HERE / "session.toml").read_text(encoding="utf-8"))
    try:
        _introduce(demo, paint)
        start = time.perf_counter()
        records = [_show_event(demo, each, paint) for each in script["session"]]
        record = records[-1]
        print(paint.bold("\n$ snell why") + paint.dim("      explains any decision; this is the last one"))
        print(explain(record, paint.of(record)).replace(f"{demo.project}/", ""))
        count = len(records) + _show_memory(demo, script, paint)
        measured = script["measured"]["event"]
        hooks = sum(len(each["runs"]) for each in demo.send(measured)[0]["rounds"])
        _show_costs(demo.measure_costs(measured), hooks, paint)
        print(f"\n{count} events shown in {time.perf_counter() - start:.1f} s.")
        _offer_page(demo, paint)
    finally:
        demo.close()
    print("The daemon was stopped, and the demo's files were removed." if is_removed else "The daemon was stopped.")
    print(f"Write your own hook: {paint.bold('snell new hook NAME')}, then {paint.bold('snell test')}.")
    if not shutil.which("snell", path=_path_of_the_shell(Path(sys.executable).parent)):
        print("The `snell` command is not on your PATH yet: see README.md for how to install it.")
    return 0


def _offer_page(demo: "DemoEnvironment", paint: Colours) -> None:
    """Offer the page on the demo's own data to a person; it ends when the page is closed."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()) or not find_spec("snell.ui"):
        return
    print(f"\n{paint.bold('$ snell ui')}{paint.dim('      shows every decision on a page, on this machine alone')}")
    if confirm("Look at this session on the page?"):
        with contextlib.suppress(KeyboardInterrupt):  # Ctrl-C ends the page, not the demo
            subprocess.run([sys.executable, "-m", "snell", "ui"], env={**os.environ, **demo.env}, check=False)


def _show_memory(demo: "DemoEnvironment", script: Mapping[str, Any], paint: Colours) -> int:
    """Show that a later session recalls what an earlier one learned; return the number of events."""
    print(paint.bold("\nLater sessions know what earlier ones decided") + paint.dim("      if you enable memory"))
    _show_event(demo, script["learned"], paint)
    if not demo.wait_for_memory():
        return 1
    _show_event(demo, script["asked"], paint)
    return 2


def _introduce(demo: "DemoEnvironment", paint: Colours) -> None:
    found = review(demo.where, demo.project, demo.env)
    print(paint.bold("A project contains its own hooks."))
    print(f"Snell found {len(found.items)}, and does not run them before you approve them:")
    for item in found.items:
        print(f"  {item.title:<34} {paint.dim(item.file)}")
    print(f"You read them and run {paint.bold('snell trust')}; a changed file has to be approved again.\n")
    approve(demo.where, demo.project, [found.digest], demo.env)
    program = "a native program" if is_native() else "here the slower Python version, since no C compiler was found"
    print(f"From now on the agent runs {paint.bold('snell-hook')} for every event ({program}).\n")


def _show_event(demo: "DemoEnvironment", step: Mapping[str, Any], paint: Colours) -> dict[str, Any]:
    title, event = step["title"], step["event"]
    record, seconds = demo.send(event)
    started = ", including the start of the daemon" if event.get("source") == "startup" else ""
    print(f"{paint.bold('-')} {title} {paint.dim(f'({seconds * 1000:.1f} ms{started})')}")
    if "tool_input" in event:
        subject = shorten(next(iter(event["tool_input"].values())))  # the command or the file
        print(f"    {event['tool_name']} {subject}")
    elif "prompt" in event:
        print(f"    {event['prompt']}")
    for colour, label, text in _answer(record, paint):
        first, *rest = wrap(f"{label} {text}".replace(f"{demo.project}/", ""), 4)
        print("\n".join([first.replace(label, colour(label), 1), *rest]))
    return record


def _answer(record: Mapping[str, Any], paint: Colours) -> list[tuple[Colour, str, str]]:
    lines = [
        (paint.yellow, "rewritten to", f"{shorten(change['after'])} ({change['because']})")
        for change in record.get("changes", ())
    ]
    if record["verdict"] == "deny":
        lines.append((paint.red, "blocked:", record["reason"]))
    lines += [(paint.green, "context:", note["text"]) for note in record.get("notes", ())]
    failures = record.get("failures", ())
    lines += [(paint.yellow, "a hook failed, the agent continues:", each["text"]) for each in failures]
    return lines or [(paint.dim, "no opinion:", "the agent's own permission flow decides")]


def _show_costs(costs: Mapping[str, float], hooks: int, paint: Colours) -> None:
    print(paint.bold("\nTime per event") + paint.dim("      measured now; medians"))
    rows = (
        ("true", "/bin/true, which does nothing", str),
        ("snell", f"snell-hook: runs {hooks} hooks and stores the decision", paint.green),
        ("python", "one plain Python script, a single hook", paint.red),
    )
    for name, what, colour in rows:
        ratio = f"{costs[name] / costs['true']:.1f} x"
        print(f"  {colour(f'{costs[name] * 1000:8.2f} ms {ratio:>8}')}   {what}")
    times = costs["python"] / costs["snell"]
    print(f"  Snell ran {hooks} hooks; the script is one hook and takes {times:.0f} times as long.")


def _path_of_the_shell(added: Path) -> str:
    """Return the user's own PATH: `dev.py` puts the virtual environment's folder in front of it."""
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    is_ours = "VIRTUAL_ENV" in os.environ and "VIRTUAL_ENV_PROMPT" not in os.environ and folders[0] == str(added)
    return os.pathsep.join(folders[1:] if is_ours else folders)


WAIT_SECONDS = 5.0  # for a trace that is written after the reply, and for a daemon that stops
ROUNDS, PYTHON_ROUNDS = 60, 6  # few, so that the demo stays quick
PLAIN_HOOK = """\
import json, re, sys

event = json.load(sys.stdin)
if re.search(r"git commit .*(-n|--no-verify)\\b", event["tool_input"].get("command", "")):
    sys.exit(2)
"""


class DemoEnvironment:
    def __init__(self, folder: Path) -> None:
        self.project = folder / "project"
        shutil.copytree(HERE / "project", self.project)
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "HOME") if name in os.environ}
        self.env = {**kept, "SNELL_HOME": str(folder / "home")}
        self.where: Places = places(self.env)
        self.where.config.mkdir(parents=True)
        shutil.copyfile(HERE / "settings.toml", self.where.config / "snell.toml")
        self._database = database_of(self.where)
        self._plain_hook = folder / "plain_hook.py"
        self._plain_hook.write_text(PLAIN_HOOK, encoding="utf-8")

    def send(self, event: Mapping[str, Any]) -> tuple[dict[str, Any], float]:
        """Send one event through `snell-hook`; return its record in the store, and the seconds until the reply."""
        before = self._last()
        payload = self._payload(event)
        start = time.perf_counter()
        subprocess.run(hook_command(), input=payload, env=self.env, cwd=self.project, capture_output=True, check=False)
        seconds = time.perf_counter() - start
        return self._record_after(before), seconds

    def wait_for_memory(self) -> bool:
        """Wait until a memory was captured, which happens after the reply; return whether it was."""

        def is_known() -> bool:
            where = {"CWD": str(self.project)}
            return bool(ask(self.where.run, "memory.list", {}, where)["memories"])

        with contextlib.suppress(DaemonError):
            return poll(is_known, WAIT_SECONDS)
        return False

    def measure_costs(self, event: Mapping[str, Any]) -> dict[str, float]:
        """Return the median seconds of `/bin/true`, `snell-hook` and a plain Python hook, run in turns."""
        payload = self._payload(event)
        plain = [sys.executable, str(self._plain_hook)]
        taken: dict[str, list[float]] = {"true": [], "snell": [], "python": []}
        for number in range(ROUNDS):
            taken["true"].append(self._seconds_of(["/bin/true"], payload))
            taken["snell"].append(self._seconds_of(hook_command(), payload))
            if number % (ROUNDS // PYTHON_ROUNDS) == 0:
                taken["python"].append(self._seconds_of(plain, payload))
        return {name: statistics.median(each) for name, each in taken.items()}

    def close(self) -> None:
        """Stop the daemon and wait until it has ended."""
        self._database.close()
        try:
            daemon = int(ask(self.where.run, "stop")["pid"])
        except DaemonError:
            return
        poll(lambda: process_at(daemon) is None, WAIT_SECONDS)

    def _payload(self, event: Mapping[str, Any]) -> bytes:
        usual = {"hook_event_name": "PreToolUse", "session_id": "demo", "cwd": str(self.project)}
        return msgspec.json.encode({**usual, **event})

    def _last(self) -> str:
        with contextlib.suppress(StoreError):
            for row in StoreJournal(self._database).recent(limit=1):
                return row.id
        return ""

    def _record_after(self, before: str) -> dict[str, Any]:
        """Return the record of the next decision; its details are written a moment after the reply."""
        journal = StoreJournal(self._database)
        found: dict[str, Any] = {}

        def is_there() -> bool:
            with contextlib.suppress(StoreError):
                last = journal.find("last")
                found.clear()
                found.update(last)
            return found.get("id", before) != before and "cwd" in found

        if not poll(is_there, WAIT_SECONDS):
            raise StoreError("the event did not reach the store", advice="try `snell-hook --help`, then `snell doctor`")
        return found

    def _seconds_of(self, argv: list[str], payload: bytes) -> float:
        """Start a program as a client does; `subprocess` itself would take most of the measured time."""
        stdin, give = os.pipe()
        take, stdout = os.pipe()
        os.write(give, payload)
        os.close(give)
        start = time.perf_counter()
        actions = [(os.POSIX_SPAWN_DUP2, stdin, 0), (os.POSIX_SPAWN_DUP2, stdout, 1)]
        child = os.posix_spawn(argv[0], argv, self.env, file_actions=actions)
        os.close(stdout)
        while os.read(take, 1 << 16):
            pass
        os.waitpid(child, 0)
        seconds = time.perf_counter() - start
        os.close(stdin)
        os.close(take)
        return seconds


def hook_command() -> list[str]:
    """Return the command line of this installation's `snell-hook`."""
    return [str(_program()), "--client", "claude-code"]


def is_native() -> bool:
    with open(_program(), "rb") as program:
        return program.read(2) != b"#!"


def _program() -> Path:
    found = shim_path(os.environ)
    if found is None:
        advice = "install Snell again, or run `python3 dev.py demo` in a clone"
        raise StoreError("`snell-hook` is not installed", advice=advice)
    return found
