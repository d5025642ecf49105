"""
An agent that plays a part: it fires events at the real daemon and writes down what it is told.

    work_agent.py PART NOTES [...]
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

BEGAN = time.monotonic()
PART, NOTES = sys.argv[1], Path(sys.argv[2])
WINDOW = f"w{os.getpid()}"
TRANSCRIPT = NOTES.with_name(f"{WINDOW}.jsonl")
FULL = {"type": "assistant", "isApiErrorMessage": True, "message": {"content": "Prompt is too long"}}


def fire(event: str, **fields: object) -> dict:
    given = {"hook_event_name": event, "session_id": WINDOW, "transcript_path": str(TRANSCRIPT), "cwd": os.getcwd()}
    done = subprocess.run(
        [Path(sys.executable).with_name("snell-hook"), "--client", "claude-code"],
        input=json.dumps({**given, **fields}).encode(),
        capture_output=True,
        timeout=60,
        check=True,
    )
    return json.loads(done.stdout or b"{}")


def note(text: str) -> None:
    with NOTES.open("a", encoding="utf-8") as file:
        file.write(f"{text}\n---\n")


def windows() -> int:
    return NOTES.read_text("utf-8").count("## window") if NOTES.exists() else 0


def stops_are_held(most: int) -> None:
    """Until one is not, which the supervisor may have something to say to."""
    for number in range(1, most + 1):
        if "decision" not in (said := fire("Stop", last_assistant_message="not yet")):
            note(f"stop {number}: {said['systemMessage']}")
            break


def wait_for_file(path: Path) -> None:
    while not path.exists():
        time.sleep(0.05)


def wait_to_be_ended() -> None:
    signal.alarm(60)
    signal.pause()
    sys.exit(99)


def main() -> None:  # noqa: C901 - a script of commands
    first = windows() == 0
    told = fire("SessionStart", source="startup").get("hookSpecificOutput", {}).get("additionalContext", "")
    note(f"begins at {BEGAN}")
    note(f"## window {' '.join(sys.argv[3:])}\n{told}")
    if PART == "stale":
        sys.exit(1 if "--resume" in sys.argv else 0)
    if PART == "exhausted" or (PART == "exhausted once" and first):
        TRANSCRIPT.write_text(json.dumps(FULL) + "\n", encoding="utf-8")
        sys.exit(1)
    if PART == "loops":
        if first:
            fire("UserPromptSubmit", prompt="/harness write the parser")
        stops_are_held(9 if first else 3)
    if not first:
        sys.exit(0)
    if PART == "dehydrates late":
        Path(sys.argv[3]).touch()
        wait_for_file(Path(sys.argv[4]))
    if PART.startswith("dehydrates"):
        fire("PreToolUse", tool_name="Bash", tool_input={"command": "make"}, tool_use_id="1")
        left = {"summary": "half done", "lastAction": "wrote a", "nextSteps": ["write b"], "requiredFiles": []}
        subprocess.run(
            [sys.executable, "-m", "snell", "session", "dehydrate"],
            input=json.dumps(left).encode(),
            check=True,
            timeout=60,
        )
        wait_to_be_ended()
    if PART == "compacts":
        signal.signal(signal.SIGTERM, lambda *_: note(f"asked to end at {time.monotonic()}"))
        note(f"compaction: {fire('PreCompact', trigger='auto').get('decision')}")
        signal.alarm(60)
        while True:  # it does not
            signal.pause()
    if PART == "waits":
        Path(sys.argv[3]).touch()
        wait_for_file(Path(sys.argv[4]))


main()
