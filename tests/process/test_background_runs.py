"""Programs that ask to go on after their caller has its answer."""

import sys

import pytest

from snell.system.run_program import Finished, Running, background_runs, end_background_runs, finish_in_background
from tests.process.sandbox import HANG_BOUND, Sandbox, expected_outcome, outcome
from tests.waiting import wait_until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="survivors are looked for in /proc")


def starts_async(said: bytes) -> bool:
    return b'{"async": true}' in said


def test_a_run_that_says_so_goes_on_in_the_background(sandbox: Sandbox) -> None:
    late: list[Finished] = []
    finished = sandbox.run(
        """printf '{"async": true}'; while [ ! -e go ]; do sleep 0.01; done; printf later; exit 4""",
        watch_stdout=starts_async,
        hand_over=lambda running: finish_in_background(running, 30.0, late.append),
    )
    assert outcome(finished) == expected_outcome(None, went_async=True, stdout=b'{"async": true}')
    assert len(background_runs()) == 1
    (sandbox.folder / "go").touch()
    assert wait_until(lambda: background_runs() == ())
    assert [outcome(each) for each in late] == [expected_outcome(4, stdout=b'{"async": true}later')]


def test_a_run_that_says_so_and_ends_at_once_went_async_all_the_same(sandbox: Sandbox) -> None:
    late: list[Finished] = []
    finished = sandbox.run(
        """printf '{"async": true}'""",
        watch_stdout=starts_async,
        hand_over=lambda running: finish_in_background(running, 30.0, late.append),
    )
    assert outcome(finished) == expected_outcome(None, went_async=True, stdout=b'{"async": true}')
    assert wait_until(lambda: background_runs() == ())
    assert [outcome(each) for each in late] == [expected_outcome(0, stdout=b'{"async": true}')]


def test_a_background_run_has_a_limit_of_its_own(sandbox: Sandbox) -> None:
    late: list[Finished] = []
    sandbox.run(
        """printf '{"async": true}'; setsid sleep 60 & sleep 60""",
        watch_stdout=starts_async,
        hand_over=lambda running: finish_in_background(running, 0.2, late.append),
    )
    assert wait_until(lambda: background_runs() == (), seconds=HANG_BOUND)
    assert [(each.timed_out, each.stdout) for each in late] == [(True, b'{"async": true}')]
    assert wait_until(lambda: not sandbox.survivors())


def test_all_background_runs_can_be_ended_together(sandbox: Sandbox) -> None:
    late: list[Finished] = []
    for _ in range(3):
        sandbox.run(
            """printf '{"async": true}'; setsid sleep 60 & sleep 60""",
            watch_stdout=starts_async,
            hand_over=lambda running: finish_in_background(running, 60.0, late.append),
        )
    assert len(background_runs()) == 3
    end_background_runs()
    assert background_runs() == ()
    assert [each.cancelled for each in late] == [True, True, True]
    assert wait_until(lambda: not sandbox.survivors())


def test_a_watcher_that_never_agrees_changes_nothing(sandbox: Sandbox) -> None:
    seen: list[bytes] = []

    def watch(said: bytes) -> bool:
        seen.append(said)
        return False

    finished = sandbox.run("head -c 200000 /dev/zero", timeout=30.0, watch_stdout=watch)
    assert outcome(finished) == expected_outcome(stdout=bytes(200_000))
    assert seen[-1] == bytes(65_536)


def test_a_run_that_cannot_be_handed_over_is_ended(sandbox: Sandbox) -> None:
    def refuse(running: Running) -> None:
        raise ZeroDivisionError(running.pid)

    with pytest.raises(ZeroDivisionError):
        sandbox.run("""printf '{"async": true}'; sleep 60""", watch_stdout=starts_async, hand_over=refuse)
    assert wait_until(lambda: not sandbox.survivors())
