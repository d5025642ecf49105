"""Memory as its design document has it: the answer to a capture, the place of the inbox, and what is cut."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.process.machine import HOOK, Machine
from tests.process.test_seeds_profile import PROFILE, answer, snell
from tests.waiting import wait_until

pytest_plugins = ("tests.process.machine_fixtures",)
pytestmark = pytest.mark.skipif(not HOOK.exists(), reason="snell-hook is not beside this Python")

DECIDED = "We decided to use uv for packages because pip was slow, see `uv.lock`."
FIXED = {"continue": True, "suppressOutput": True}


def tool_call(tool: str, output: str) -> dict[str, Any]:
    return {"tool_name": tool, "tool_input": {"command": "cat notes"}, "tool_response": {"stdout": output}}


def captures(inbox: Path) -> list[str]:
    """The texts of all captures, waiting or done."""
    files = [path for folder in ("new", "processed") for path in (inbox / folder).glob("*.json")]
    return [json.loads(path.read_bytes())["content"] for path in sorted(files, key=lambda path: path.name)]


@pytest.mark.proves("S4-54")
def test_every_capture_is_answered_alike_whatever_became_of_it(machine: Machine) -> None:
    machine.write("snell.toml", "[pack.remember]\nenabled = true\n")
    assert answer(machine, "PostToolUse", tool_use_id="t0", **tool_call("Bash", DECIDED)) == {}
    inbox = machine.home / "captures"
    inbox.write_text("not a folder", encoding="utf-8")
    machine.write("snell.toml", f"[pack.remember]\nenabled = true\nanswer = true\ninbox = '{inbox}'\n")
    for number, (tool, output) in enumerate([("Bash", DECIDED), ("Read", DECIDED), ("Bash", "nothing of note")]):
        assert answer(machine, "PostToolUse", tool_use_id=f"t1{number}", **tool_call(tool, output)) == FIXED
    assert answer(machine, "Stop", last_assistant_message=DECIDED) == FIXED


@pytest.mark.proves("S4-101")
def test_captures_wait_in_the_folder_that_the_user_names_and_no_project_can_move_them(machine: Machine) -> None:
    machine.write("snell.toml", PROFILE)
    folder = machine.project / ".snell"
    folder.mkdir()
    for name in ("snell.toml", "snell.local.toml"):
        Path(folder, name).write_text('[pack.remember]\ninbox = "elsewhere"\n', encoding="utf-8")
    machine.write("snell.toml", PROFILE + 'untrusted_projects = "user"\n')
    answer(machine, "PostToolUse", tool_use_id="t", **tool_call("Bash", DECIDED))
    inbox = machine.home / ".snell" / "pending-saves"
    wait_until(lambda: captures(inbox), 20)
    assert [DECIDED in text for text in captures(inbox)] == [True]
    assert DECIDED in snell(machine, "memory", "recall", "which package manager did we choose")
    machine.snell("trust", "--hash", json.loads(machine.snell("trust", "--json"))["digest"])
    later = "We decided to deploy on Mondays, because the support team is complete then."
    answer(machine, "PostToolUse", tool_use_id="u", **tool_call("Bash", later))
    assert wait_until(lambda: [text for text in captures(inbox) if later in text], 20)
    assert not [path for path in machine.home.rglob("*/new/*.json") if inbox not in path.parents]


def said(transcript: Path, *texts: str) -> None:
    with transcript.open("a", encoding="utf-8") as file:
        for text in texts:
            message = {"role": "assistant", "content": [{"type": "text", "text": text}]}
            print(json.dumps({"type": "assistant", "uuid": text[:40], "message": message}), file=file)


@pytest.mark.proves("S4-72")
def test_a_long_message_is_cut_and_what_is_too_much_for_one_reading_comes_with_the_next(machine: Machine) -> None:
    machine.write("snell.toml", PROFILE)
    transcript, inbox = machine.project / "transcript.jsonl", machine.home / ".snell" / "pending-saves"
    said(transcript, *(f"{number}. {DECIDED} {'and so on ' * 800}" for number in range(5)))

    def stopped(number: int) -> list[str]:
        answer(machine, "Stop", transcript_path=str(transcript))
        wait_until(lambda: len(captures(inbox)) >= number, 20)
        return [text[:2] for text in captures(inbox)]

    assert stopped(2) == ["0.", "1."]
    assert max(map(len, captures(inbox))) <= 5_000
    assert stopped(4) == ["0.", "1.", "2.", "3."]
    assert stopped(5) == ["0.", "1.", "2.", "3.", "4."]


@pytest.mark.proves("S4-81")
def test_a_correction_is_stored_unless_similarity_alone_decides(machine: Machine) -> None:
    text = "The queue worker retries a failed job {} times before it gives up, because the network is slow"

    def stored(*numbers: int) -> list[str]:
        return [snell(machine, "memory", "remember", text.format(number)).split()[0] for number in numbers]

    assert stored(3, 5) == ["remembered", "remembered"]
    machine.write("snell.toml", '[pack.remember]\nduplicates = "similar"\n')
    machine.stop()
    assert stored(7) == ["already"]
