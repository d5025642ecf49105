"""The status of agents as colours of a real tmux."""

import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from snell.packs.fleet.panes import COLOURS, COORDINATOR, MARK, delay, paint, show, socket_of
from tests.waiting import wait_until

needs_tmux = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")


class Tmux:
    def __init__(self, name: str) -> None:
        self.folder = tempfile.mkdtemp(prefix="tm-")
        self.socket = f"{self.folder}/{name}"
        self("new-session", "-d", "-x", "80", "-y", "24", "sleep 60")
        self.pane = self("display-message", "-p", "#{pane_id}")

    def __call__(self, *words: str) -> str:
        done = subprocess.run(
            ["tmux", "-S", self.socket, *words], capture_output=True, encoding="utf-8", check=True, timeout=30
        )
        return done.stdout.strip()

    def style(self, pane: str, option: str = "window-style") -> str:
        return self("show-options", "-p", "-v", "-t", pane, option)

    def env(self, pane: str) -> dict[str, str]:
        return {"TMUX": f"{self.socket},1,0", "TMUX_PANE": pane}


@pytest.fixture
def tmux() -> Iterator[Tmux]:
    made = Tmux("fleet-test")
    yield made
    made("kill-server")
    shutil.rmtree(made.folder, ignore_errors=True)


@needs_tmux
@pytest.mark.proves("S2-125", "S2-147")
def test_a_pane_has_the_colour_of_its_agent_and_a_window_that_of_the_most_urgent(tmux: Tmux):
    second = tmux("split-window", "-d", "-P", "-F", "#{pane_id}", "sleep 60")
    assert paint(tmux.socket, tmux.pane, "error")
    assert paint(tmux.socket, second, "working")
    styles = [tmux.style(pane) for pane in (tmux.pane, second)]
    assert styles == [f"bg={back},fg={front}" for back, front in (COLOURS["error"], COLOURS["working"])]
    window = tmux("show-options", "-w", "-v", "window-status-style")
    assert window == "bg={},fg={}".format(*COLOURS["error"])
    assert paint(tmux.socket, tmux.pane, "done")
    assert tmux("show-options", "-w", "-v", "window-status-style") == "bg={},fg={}".format(*COLOURS["working"])


@needs_tmux
def test_a_coordinator_is_purple_whatever_its_status_and_its_window_shows_that_of_its_agents(tmux: Tmux):
    second = tmux("split-window", "-d", "-P", "-F", "#{pane_id}", "sleep 60")
    assert paint(tmux.socket, second, "working")
    for status in ("idle", "attention"):
        show({**tmux.env(tmux.pane), "AGENT_MANAGES": "ann bob"}, "idle", status, 0.0, lambda: True)
        assert wait_until(lambda wanted=status: tmux("show-options", "-pqv", "-t", tmux.pane, MARK) == wanted, 10)
        assert wait_until(lambda: tmux.style(tmux.pane) == "bg={},fg={}".format(*COORDINATOR), 10)
    attention = "bg={},fg={}".format(*COLOURS["attention"])
    assert wait_until(lambda: tmux("show-options", "-w", "-v", "window-status-style") == attention, 10)


@needs_tmux
@pytest.mark.proves("S2-127")
def test_what_is_more_urgent_is_shown_at_once_and_what_is_less_must_last(tmux: Tmux):
    env, asked = tmux.env(tmux.pane), threading.Event()

    def is_wanted_no_more() -> bool:
        asked.set()
        return False

    show(env, "working", "error", 0.2, lambda: True)
    assert wait_until(lambda: COLOURS["error"][0] in tmux.style(tmux.pane), 10)
    show(env, "error", "working", 0.05, lambda: True)
    assert wait_until(lambda: COLOURS["working"][0] in tmux.style(tmux.pane), 10)
    show(env, "working", "done", 0.05, is_wanted_no_more)
    assert asked.wait(10)
    assert COLOURS["working"][0] in tmux.style(tmux.pane)


@pytest.mark.proves("S2-127")
def test_only_a_less_urgent_status_waits():
    assert [delay(*each, 0.2) for each in (("working", "error"), ("error", "working"), ("done", "done"))] == [0, 0.2, 0]


@needs_tmux
def test_other_servers_of_the_same_user_are_left_alone():
    other = Tmux("mine")
    try:
        before = threading.active_count()
        show(other.env(other.pane), "idle", "error", 0.0, lambda: True)
        assert threading.active_count() == before  # no thread was started to paint
        assert other("show-options", "-p", "-t", other.pane) == ""
    finally:
        other("kill-server")
        shutil.rmtree(other.folder, ignore_errors=True)


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("/tmp/tmux-0/fleet,1,0", "/tmp/tmux-0/fleet"),
        ("/tmp/tmux-0/fleet-a,1,0", "/tmp/tmux-0/fleet-a"),
        ("/tmp/tmux-0/default,1,0", ""),
        ("/tmp/fleet/default,1,0", ""),
        ("/tmp/tmux-0/fleeting,1,0", ""),
        ("", ""),
    ],
)
def test_a_fleets_socket_is_known_by_its_name(value: str, found: str):
    assert socket_of({"TMUX": value}) == found


def test_without_tmux_or_with_a_server_that_is_gone_nothing_happens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    assert paint(str(tmp_path / "fleet"), "%0", "error") is False
    monkeypatch.setenv("PATH", os.devnull)
    assert paint(str(tmp_path / "fleet"), "%0", "error") is False
