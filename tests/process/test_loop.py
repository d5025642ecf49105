"""A promise loop that a person starts at the terminal, over several processes."""

import json

import pytest

from snell.model.tables import put_meta
from snell.store.sqlite import SqliteDatabase


@pytest.mark.proves("S3-69")
def test_a_loop_outlives_the_process_that_keeps_it(snell):
    def stop(said: str) -> dict[str, object]:
        payload = {"hook_event_name": "Stop", "session_id": "s", "last_assistant_message": said}
        out = snell("hook", "--client", "claude-code", given=payload)[1]
        return json.loads(out) if out.strip() else {}

    assert stop("all done") == {}
    started = snell("loop", "start", "--promise", "KEPT", "--max", "2")
    assert started[:2] == (0, "session s: until `KEPT`, round 0 of 2\n")
    first, second = stop("all done"), stop("all done")
    assert (first["decision"], "Iteration 1/2" in str(first["reason"])) == ("block", True)
    assert "Iteration 2/2" in str(second["reason"])
    assert json.loads(snell("loop", "status", "--json")[1])["iteration"] == 2
    assert "decision" not in stop("all done")
    assert snell("loop", "stop")[1] == "no loop was running\n"


@pytest.mark.proves("S3-69", "S3-75")
def test_the_limits_of_a_session_still_count_when_it_was_ended_and_resumed(snell):
    def hook(name: str, **fields: object) -> str:
        payload = {"hook_event_name": name, "session_id": "s", "cwd": "/", **fields}
        return str(snell("hook", "--client", "claude-code", given=payload)[1])

    snell("loop", "start", "--promise", "KEPT", "--max", "3", "--session", "s")
    snell("runs", "start", "r", "--calls", "1", "--session", "s")
    assert "Iteration 1/3" in hook("Stop", last_assistant_message="no")
    hook("SessionEnd", reason="prompt_input_exit")
    hook("SessionStart", source="resume")
    assert "Iteration 2/3" in hook("Stop", last_assistant_message="no")
    calls = [hook("PreToolUse", tool_name="Read", tool_use_id=f"t{n}", tool_input={"file_path": "/x"}) for n in (1, 2)]
    assert ["used up its 1 tool calls" in each for each in calls] == [False, True]


def test_an_agent_cannot_begin_or_end_a_loop(snell):
    for what in (("start", "--promise", "x"), ("stop",)):
        code, _, err = snell("loop", *what, CLAUDECODE="1")
        assert (code, "needs a person" in err) == (1, True)


def test_a_loop_that_cannot_be_kept_says_so(snell, tmp_path):
    snell("loop", "start", "--promise", "KEPT", "--session", "s")
    database = SqliteDatabase(tmp_path / "home/state/snell.db")
    database.run(lambda tx: put_meta(tx, "schema", "999"))
    database.close()
    code, out, err = snell("loop", "start", "--promise", "OTHER", "--session", "s")
    assert (code, out) == (0, "session s: until `OTHER`, round 0 of 10\n")
    assert "the loop ends with the daemon, because it could not be stored: marks could not be written" in err
