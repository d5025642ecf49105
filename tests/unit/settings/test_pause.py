"""A person's pause: both clocks must agree that it holds, and what is in doubt has ended."""

import os
import time
from pathlib import Path

import msgspec
import pytest

from snell.model.hooks import Switches
from snell.runtime.context import is_stale
from snell.settings.load import load
from snell.settings.pause import Pause, begin_pause, current_pause, end_pause, pause_file, steady_clock
from snell.system.paths import Places


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(tmp_path / "config", tmp_path / "state", tmp_path / "run")


@pytest.mark.parametrize(
    ("minutes", "by_the_wall", "by_the_steady", "is_on"),
    [
        (10, 1, 1, True),
        (10, 580, 580, True),
        (10, 601, 601, False),
        (10, -60, 300, False),  # the clock was set back
        (10, 1, 601, False),  # set back by just enough to make it look new
        (10, 3601, 1, False),  # set forward
        (10, 1, -60, False),  # the machine was started anew
        (241, 1, 1, False),  # longer than a user may ask for
        (float("nan"), 1, 1, False),
        (0, 0, 0, False),
    ],
)
def test_a_pause_holds_while_both_clocks_say_so(
    minutes: float, by_the_wall: float, by_the_steady: float, is_on: bool
) -> None:
    held = Pause(time.time() - by_the_wall, steady_clock() - by_the_steady, minutes)
    assert held.is_on() is is_on


def test_a_pause_is_found_again_until_it_is_ended(places: Places) -> None:
    begun = begin_pause(places, 5, "a hook\x1b[2J hangs\n" + "x" * 500)
    assert (current_pause(places), begun.why[:16], len(begun.why)) == (begun, "a hook [2J hangs", 200)
    assert oct(os.stat(pause_file(places)).st_mode & 0o777) == "0o600"
    assert (end_pause(places), current_pause(places), end_pause(places)) == (begun, None, None)


def test_no_user_pauses_for_longer_than_four_hours(places: Places) -> None:
    assert begin_pause(places, 100_000).minutes == 60


@pytest.mark.parametrize("data", [b"", b"{}", b"[]", b"\xff", b'{"began":0,"steady":0,"minutes":"x"}', b"x" * 20_000])
def test_what_is_no_pause_pauses_nothing(places: Places, data: bytes) -> None:
    places.state.mkdir()
    pause_file(places).write_bytes(data)
    assert current_pause(places) is None


def test_a_link_pauses_nothing(places: Places, tmp_path: Path) -> None:
    begin_pause(places, 5)
    pause_file(places).rename(tmp_path / "elsewhere")
    pause_file(places).symlink_to(tmp_path / "elsewhere")
    assert current_pause(places) is None


def test_settings_know_of_a_pause_and_notice_when_it_runs_out(places: Places, tmp_path: Path) -> None:
    short = Pause(time.time(), steady_clock(), 0.5 / 60, "it hangs")
    places.state.mkdir()
    pause_file(places).write_bytes(msgspec.json.encode(short))
    loaded = load(places, tmp_path, {})
    assert (loaded.pause, loaded.switches) == (short, Switches(paused=str(short)))
    assert [problem.message for problem in loaded.problems] == [f"{short}: only policy hooks run"]
    deadline = time.monotonic() + 10
    while load(places, tmp_path, {}).pause:
        assert time.monotonic() < deadline
    assert is_stale(loaded)
    assert load(places, tmp_path, {}).switches == Switches()
