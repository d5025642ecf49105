"""The status of agents as colours of a real tmux."""

import json
import os
import pty
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from snell.packs.fleet.panes import COLOURS, COORDINATOR, MARK, address_in, is_looked_at, paint
from snell.packs.fleet.service import ROUND, Display
from snell.settings.packs import builtin_packs
from snell.store.sqlite import SqliteDatabase
from snell.work import agents
from tests.fork_server import run_snell
from tests.process.machine import Machine
from tests.waiting import wait_until

pytest_plugins = ("tests.process.machine_fixtures",)
needs_tmux = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")


class Tmux:
    def __init__(self, name: str) -> None:
        self.folder = tempfile.mkdtemp(prefix="tm-")
        self.socket = f"{self.folder}/{name}"
        self("new-session", "-d", "-x", "80", "-y", "24", "sleep 600")
        self.pane = self("display-message", "-p", "#{pane_id}")
        self.address = f"{self.socket},{self.pane}"

    def __call__(self, *words: str) -> str:
        done = subprocess.run(
            ["tmux", "-S", self.socket, *words], capture_output=True, encoding="utf-8", check=True, timeout=30
        )
        return done.stdout.strip()

    def split(self) -> str:
        return self("split-window", "-d", "-P", "-F", "#{pane_id}", "sleep 600")

    def style(self, pane: str, option: str = "window-style") -> str:
        return self("show-options", "-p", "-v", "-q", "-t", pane, option)

    def shows(self, pane: str, status: str) -> bool:
        return self.style(pane) == style_of(COLOURS[status]) and self.style(pane, MARK) == status

    @property
    def window_style(self) -> str:
        return self("show-options", "-w", "-v", "window-status-style")

    def env(self, pane: str) -> dict[str, str]:
        return {"TMUX": f"{self.socket},1,0", "TMUX_PANE": pane}

    @contextmanager
    def user(self) -> Iterator[None]:
        """A user who looks at the active pane, in a terminal."""
        screen, terminal = pty.openpty()
        words = ["tmux", "-S", self.socket, "attach"]
        env = {**os.environ, "TERM": "xterm"}
        attached = subprocess.Popen(words, stdin=terminal, stdout=terminal, env=env, start_new_session=True)
        try:
            yield
        finally:
            attached.terminate()
            attached.wait()
            os.close(screen)
            os.close(terminal)


def style_of(colours: tuple[str, str]) -> str:
    return "bg={},fg={}".format(*colours)


@pytest.fixture
def tmux() -> Iterator[Tmux]:
    made = Tmux("fleet-test")
    yield made
    made("kill-server")
    shutil.rmtree(made.folder, ignore_errors=True)


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[SqliteDatabase]:
    database = SqliteDatabase(tmp_path / "fleet.db")
    yield database
    database.close()


def _set(fleet: SqliteDatabase, agent: str, status: str, **more: Any) -> None:
    def change(tx):
        agents.register(tx, agent, **more)
        agents.update_status(tx, agent, status)

    fleet.run(change)


@needs_tmux
@pytest.mark.proves("S2-125", "S2-126", "S2-127", "S2-147")
def test_a_pane_shows_the_stored_status_whichever_program_has_set_it(machine: Machine, tmux: Tmux):
    pane = tmux.env(tmux.pane)

    def call(command: str, args: dict[str, Any], **env: str) -> None:
        (answer,) = machine.ask(json.dumps({"cmd": command, "args": args, "env": env}))
        assert answer["ok"], answer

    def command(status: str) -> None:
        done = run_snell("agent", "status", status, cwd=machine.project, env=machine.env(AGENT_ID="ann"))
        assert done == (0, f"agent ann is {status}\n", "")

    def shows(status: str) -> bool:
        return wait_until(lambda: tmux.shows(tmux.pane, status))

    assert machine.hook({"hook_event_name": "UserPromptSubmit", "prompt": "hi"}, AGENT_ID="ann", **pane)[::2] == (0, "")
    assert shows("working")
    command("checked")
    assert shows("checked")
    call("agent.status", {"id": "ann", "status": "error"})
    assert shows("error")
    event = {"session_id": "s", "transcript_path": "", "cwd": str(machine.project), "message": "may I?"}
    call("hooks.notification", {**event, "notification_type": "permission_prompt"}, AGENT_ID="ann")
    assert shows("attention")
    other = {**tmux.env(tmux.split()), "AGENT_ID": "bob"}
    call("hooks.userPrompt", {**event, "prompt": "hi"}, **other)
    assert wait_until(lambda: tmux.shows(other["TMUX_PANE"], "working"))
    for status, shown in (("error", "error"), ("attention", "attention"), ("checked", "working"), ("done", "working")):
        command(status)
        assert shows(status)
        assert wait_until(lambda most=shown: tmux.window_style == style_of(COLOURS[most]))
    call("agent.status", {"id": "bob", "status": "checked"})
    assert wait_until(lambda: tmux.window_style == style_of(COLOURS["checked"]))
    machine.stop()
    command("checked")
    assert shows("checked")
    command("done")
    assert shows("done")


@needs_tmux
@pytest.mark.proves("S2-147")
def test_attention_becomes_checked_when_a_user_looks_at_the_pane_if_the_option_says_so(machine: Machine, tmux: Tmux):
    machine.write("snell.toml", "[pack.fleet]\nchecked_when_seen = true\n")
    unseen = tmux.split()
    asks = {"hook_event_name": "Notification", "notification_type": "permission_prompt", "message": "may I?"}
    for agent, pane in (("ann", tmux.pane), ("bob", unseen)):
        assert machine.hook({**asks, "session_id": agent}, AGENT_ID=agent, **tmux.env(pane))[::2] == (0, "")
        assert wait_until(lambda shown=pane: tmux.shows(shown, "attention"))
    with tmux.user():
        assert wait_until(lambda: tmux.shows(tmux.pane, "checked"))
    rows = machine.ask('{"cmd": "agent.list"}')[0]["data"]
    assert {row["id"]: row["status"] for row in rows} == {"ann": "checked", "bob": "attention"}


@needs_tmux
@pytest.mark.proves("S2-125", "S2-147")
def test_a_window_has_the_colour_of_its_most_urgent_pane(tmux: Tmux):
    second = f"{tmux.socket},{tmux.split()}"
    assert paint(tmux.address, "error")
    assert paint(second, "working")
    assert tmux.window_style == style_of(COLOURS["error"])
    assert paint(tmux.address, "done")
    assert tmux.window_style == style_of(COLOURS["working"])


@needs_tmux
def test_a_coordinator_is_purple_whatever_its_status_and_its_window_shows_that_of_its_agents(
    tmux: Tmux, fleet: SqliteDatabase
):
    display = Display(fleet, {"tmux": True})
    _set(fleet, "ann", "working", pane=f"{tmux.socket},{tmux.split()}")
    for status in ("idle", "attention"):
        _set(fleet, "boss", status, pane=tmux.address, manages="ann bob")
        assert display.refresh(0.0)
        assert (tmux.style(tmux.pane, MARK), tmux.style(tmux.pane)) == (status, style_of(COORDINATOR))
    assert tmux.window_style == style_of(COLOURS["attention"])


@needs_tmux
@pytest.mark.proves("S2-127")
def test_what_is_more_urgent_is_shown_at_once_and_what_is_less_must_last(tmux: Tmux, fleet: SqliteDatabase):
    options = builtin_packs()["fleet"].options
    assert options["settle"] == ROUND == 0.2
    display = Display(fleet, options)
    steps = [
        *[("working", 0.0, "working"), ("error", 0.1, "error"), ("working", 0.2, "error"), ("error", 0.3, "error")],
        *[("working", 0.4, "error"), ("working", 0.5, "error"), ("working", 0.7, "working")],
        *[("checked", 0.8, "working"), ("done", 0.9, "working"), ("done", 1.0, "working"), ("done", 1.2, "done")],
    ]
    for status, now, shown in steps:
        _set(fleet, "ann", status, pane=tmux.address)
        assert display.refresh(now)
        assert tmux.shows(tmux.pane, shown), (status, now)


@needs_tmux
def test_other_servers_of_the_same_user_and_agents_of_other_machines_are_left_alone(tmux: Tmux, fleet: SqliteDatabase):
    other = Tmux("mine")
    try:
        _set(fleet, "ann", "error", pane=other.address)
        _set(fleet, "bob", "error", pane=tmux.address)
        fleet.run(lambda tx: agents.claim(tx, "bob", "another machine"))
        assert Display(fleet, {"tmux": True}).refresh(0.0) is False
        assert other("show-options", "-p", "-t", other.pane) == tmux("show-options", "-p", "-t", tmux.pane) == ""
    finally:
        other("kill-server")
        shutil.rmtree(other.folder, ignore_errors=True)


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("/tmp/tmux-0/fleet,1,0", "/tmp/tmux-0/fleet,%1"),
        ("/tmp/tmux-0/fleet-a,1,0", "/tmp/tmux-0/fleet-a,%1"),
        ("/tmp/tmux-0/default,1,0", ""),
        ("/tmp/fleet/default,1,0", ""),
        ("/tmp/tmux-0/fleeting,1,0", ""),
        ("", ""),
    ],
)
def test_a_fleets_socket_is_known_by_its_name(value: str, found: str):
    assert address_in({"TMUX": value, "TMUX_PANE": "%1"}) == found
    assert address_in({"TMUX": value, "TMUX_PANE": "1; x"}) == ""


def test_without_tmux_or_with_a_server_that_is_gone_nothing_happens(
    tmp_path: Path, fleet: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
):
    _set(fleet, "ann", "error", pane=f"{tmp_path / 'fleet'},%0")
    assert Display(fleet, {"tmux": True}).refresh(0.0) is False
    assert Display(fleet, {"tmux": False}).refresh(0.0) is False
    monkeypatch.setenv("PATH", os.devnull)
    assert paint(f"{tmp_path / 'fleet'},%0", "error") is False


@needs_tmux
@pytest.mark.proves("S2-147")
def test_looking_at_a_pane_changes_no_status_by_itself(machine: Machine, tmux: Tmux):
    asks = {"hook_event_name": "Notification", "notification_type": "permission_prompt", "message": "may I?"}
    unseen = tmux.split()
    assert machine.hook(asks, AGENT_ID="ann", **tmux.env(tmux.pane))[::2] == (0, "")
    assert wait_until(lambda: tmux.shows(tmux.pane, "attention"))
    with tmux.user():
        assert wait_until(lambda: is_looked_at(f"{tmux.socket},{tmux.pane}"))
        prompt = {"hook_event_name": "UserPromptSubmit", "session_id": "bob", "prompt": "hi"}
        machine.hook(prompt, AGENT_ID="bob", **tmux.env(unseen))
        for status in ("error", "working"):  # as many rounds of the display
            run_snell("agent", "status", status, cwd=machine.project, env=machine.env(AGENT_ID="bob"))
            assert wait_until(lambda shown=status: tmux.shows(unseen, shown))
    rows = machine.ask('{"cmd": "agent.list"}')[0]["data"]
    assert {row["id"]: row["status"] for row in rows} == {"ann": "attention", "bob": "working"}
