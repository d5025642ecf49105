"""Made-up secrets go through a busy session; afterwards none of them is in any byte that Snell wrote."""

import contextlib
import json
import subprocess
import sys
import textwrap
from pathlib import Path
from random import Random

import pytest

from snell.records import marks
from snell.redact import redact
from snell.store.sqlite import SqliteDatabase
from tests.unit.redact.redact_cases import examples

HOOK, SNELL = (Path(sys.executable).with_name(name) for name in ("snell-hook", "snell"))
PACK = """
    import sys
    from snell import Deny, Note, informs, judges

    @judges("PreToolUse", kind="shell")
    def says_why(call):
        return Deny("refused: " + call.command)

    @judges("PreToolUse", kind="shell")
    def breaks(call):
        print("about to break on", call.command, file=sys.stderr)
        raise ValueError("cannot judge " + call.command)

    @informs("UserPromptSubmit")
    def repeats(event):
        return Note("you said: " + event.payload["prompt"])
    """
# Every part that writes is on; the server is away, so that what is meant for it waits.
SETTINGS = """
packs = ["pack"]
database = "postgresql://absent@127.0.0.1:9/none"
[pack.ledger]
mode = "durable"
[pack.remember]
enabled = true
[pack.learn]
enabled = true
folder = "{reports}"
"""
FRAMES = (
    "deploy --with {}",
    "echo {} > out",
    "{}",
    "a line\nthing: {}\n",
    '{{"thing": "{}"}}',
    "see https://x.test/?t={}&b=1",
)
WITHOUT_DAEMON = 2
WORTH_KEEPING = "Remember that we decided to use the blue queue because the green one was slow, error E42: "


@pytest.mark.proves("S4-100", "S4-122")
def test_no_secret_is_in_any_byte_that_snell_wrote(tmp_path: Path) -> None:
    _canary(tmp_path, events=5, secrets_each=20)


@pytest.mark.nightly
def test_none_of_five_hundred_secrets_is_in_any_byte_that_snell_wrote(tmp_path: Path) -> None:
    _canary(tmp_path, events=50, secrets_each=10)


def _canary(folder: Path, events: int, secrets_each: int) -> None:
    home = folder / "h"
    pack = _runtime(home)
    env = {"PATH": "/usr/bin:/bin", "HOME": str(home), "SNELL_HOME": str(home)}
    planted = _secrets(events * secrets_each)
    written = Written(home, pack)
    try:
        _run([SNELL, "effort", "start", "t", "fix"], env, folder)
        for number in range(events):
            few = planted[number * secrets_each : (number + 1) * secrets_each]
            for payload in _payloads(folder, number, few):
                # Some are answered without the daemon, by a process of their own.
                program = [SNELL, "hook"] if number == WITHOUT_DAEMON else [HOOK]
                _run([*program, "--client", "claude-code"], env, folder, json.dumps(payload))
            if number % 5 == 0:
                also = ["--tag", few[1], "--metadata", json.dumps({"note": few[2]}), "--idempotency-key", few[3]]
                _run([SNELL, "memory", "remember", WORTH_KEEPING + few[0], *also], env, folder)
            written.look()  # also at what is only there for a while: pending rows, the inbox, the log
        _run([sys.executable, "-c", CRASH, *planted[:20]], env, folder)
    finally:
        _run([SNELL, "daemon", "stop"], env, folder)
    _run([sys.executable, "-c", MARKS, str(home / "state" / "snell.db"), *planted], env, folder)
    written.look()
    assert {"in a list", "in a text", "under a name"} <= _marks(home / "state" / "snell.db")
    written.holds_something_of("crashes", "memory", "pending", "reports", "snell.db")
    assert written.placeholders > events * secrets_each
    assert written.leaks(planted) == []


def _runtime(home: Path) -> Path:
    pack = home / "config" / "pack"
    pack.mkdir(parents=True)
    (pack / "pack.toml").write_text('name = "p"\n', encoding="utf-8")
    (pack / "rules.py").write_text(textwrap.dedent(PACK), encoding="utf-8")
    settings = SETTINGS.format(reports=home / "reports")
    (home / "config" / "snell.toml").write_text(settings, encoding="utf-8")
    return pack


class Written:
    """All that was ever seen in a file below the home."""

    def __init__(self, home: Path, pack: Path) -> None:
        self.home, self.pack = home, pack
        self.seen: dict[str, set[bytes]] = {}

    @property
    def placeholders(self) -> int:
        return sum(max((data.count(b"[redacted:") for data in seen), default=0) for seen in self.seen.values())

    def look(self) -> None:
        for path in self.home.rglob("*"):
            if self.pack in path.parents:
                continue
            with contextlib.suppress(OSError):  # gone meanwhile, or a socket
                if path.is_file():
                    self.seen.setdefault(str(path.relative_to(self.home)), set()).add(path.read_bytes().lower())

    def leaks(self, planted: list[str]) -> list[tuple[str, str]]:
        """In the names of files, too; and in small letters, as tags are stored."""
        return [
            (name, secret)
            for name, seen in self.seen.items()
            for secret in planted
            if secret in name or any(secret.lower().encode() in data for data in seen)
        ]

    def holds_something_of(self, *parts: str) -> None:
        everything = "\n".join(self.seen)
        assert [part for part in parts if part not in everything] == []


CRASH = """
import sys
from snell.system.crash_report import write_report
try:
    raise RuntimeError("cannot go on with " + " ".join(sys.argv[1:]))
except RuntimeError as error:
    write_report(error, ["fire", *sys.argv[1:]])
"""

# Marks of hooks in this runtime; those of a person's own hooks are kept nowhere.
MARKS = """
import sys
from pathlib import Path
from snell.runtime.stored_marks import StoredMarks
from snell.store.sqlite import SqliteDatabase
path, *secrets = sys.argv[1:]
marks = StoredMarks(SqliteDatabase(Path(path)))
marks.put("session:canary", "in a text", "seen: " + " ".join(secrets))
marks.put("session:canary", "in a list", secrets)
marks.put("session:canary", "under a name", {secret: {"thing": secret} for secret in secrets})
"""


def _marks(path: Path) -> set[str]:
    """The names of all marks that a secret was taken out of."""
    database = SqliteDatabase(path)
    try:
        found = database.run(lambda tx: marks.in_scope(tx, "session:canary"))
    finally:
        database.close()
    return {name for name, value in found.items() if "[redacted:" in json.dumps(value)}


def _secrets(count: int) -> list[str]:
    """Of as many formats as there are; those that JSON would write differently could not be looked for."""
    made = [secret for _, secret in examples(2, seed=77) if json.dumps(secret) == f'"{secret}"' and len(secret) >= 16]
    chosen = Random(5).sample(made, count)
    assert all(secret not in redact(secret) for secret in chosen)
    return chosen


def _payloads(folder: Path, number: int, secrets: list[str]) -> list[dict[str, object]]:
    text = " ; ".join(FRAMES[n % len(FRAMES)].format(secret) for n, secret in enumerate(secrets))
    broken = "\n".join(f"{secret[:-9]}\n{secret[-9:]}" for secret in secrets)
    kept = [f"{WORTH_KEEPING}{secret} (case {number}-{n})" for n, secret in enumerate(secrets)]
    same = {"session_id": "canary", "cwd": str(folder), "transcript_path": str(_transcript(folder, number, kept))}
    shell = {**same, "tool_name": "Bash", "tool_use_id": f"toolu_{number}", "tool_input": {"command": text}}
    edit = {"file_path": str(folder / f"{number}.py"), "content": f"a = 1\n{text}\n{broken}"}
    write = {**same, "tool_name": "Write", "tool_use_id": f"toolu_w{number}", "tool_input": edit}
    return [
        {**same, "hook_event_name": "SessionStart", "source": "startup"},
        {**shell, "hook_event_name": "PreToolUse"},
        {**shell, "hook_event_name": "PostToolUse", "tool_response": {"stdout": "\n".join(kept), "lines": secrets}},
        {**shell, "hook_event_name": "PostToolUseFailure", "error": text},
        {**write, "hook_event_name": "PreToolUse"},
        {**write, "hook_event_name": "PostToolUse", "tool_response": {"success": True, "text": broken}},
        {**same, "hook_event_name": "UserPromptSubmit", "prompt": f"{kept[0]} {text}"},
        {**same, "hook_event_name": "PreCompact", "trigger": "manual", "custom_instructions": text},
        {**same, "hook_event_name": "Stop", "last_assistant_message": text},
        {**same, "hook_event_name": "SessionEnd", "reason": "other"},
    ]


def _transcript(folder: Path, number: int, said: list[str]) -> Path:
    """What the client wrote down; nothing of ours, so that it may hold the secrets."""
    path = folder / f"transcript-{number}.jsonl"
    lines = [{"type": "assistant", "message": {"role": "assistant", "content": each}} for each in said]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def _run(argv: list[object], env: dict[str, str], folder: Path, given: str = "") -> None:
    subprocess.run(
        [str(each) for each in argv], input=given.encode(), env=env, cwd=folder, capture_output=True, timeout=60
    )
