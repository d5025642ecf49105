"""A home in which clients have recorded conversations, and hooks have seen some or all of their calls."""

import json
import re
import time
from datetime import UTC, datetime
from pathlib import Path

import apsw

from snell.clients import client_named
from snell.runtime.app import Runtime
from snell.system.paths import places
from tests.process.test_setup_cli import Owner

TRANSCRIPTS = Path(__file__).parent / "transcripts"
ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")
EPOCH = re.compile(r"\b1[78]\d{11}\b")
DENY = """
from snell import Deny, judges

@judges("PreToolUse", kind="shell")
def no_precious(call):
    return Deny("it is precious") if "precious" in call.command else None
"""
WORK = ("echo harmless", "exit 3", "rm -f precious.txt")
# By recording: its client, session, and the calls that hooks see: number, tool, input and sub-agent.
BASH = [{"command": each, "description": "work"} for each in WORK]
SESSIONS = {
    "claude_code": ("claude_code", "e4252ad2-43da-469a-b583-5d13e5652915"),
    "codex": ("codex", "01a1ed5a-9740-7dd2-a00d-5fad45bb84f7"),
    "copilot": ("copilot", "ea55f2ef-ca27-4333-b47a-6914ec419875"),
    "gemini": ("gemini", "37d1c1b6-3ea2-44e8-b1a3-58e3059d40fe"),
    "kimi": ("kimi", "session_a9496794-88f8-4b06-8e74-1e22f90e4f85"),
    "opencode": ("opencode", "ses_e12a53bb4ffe50XNSTxvR45ii1"),
    "qwen": ("qwen", "c8d92e54-35f8-40de-95bf-0696aac080c4"),
}
FORMS = {
    "claude_code": lambda n: ("Bash", BASH[n], {"tool_use_id": f"toolu_{n + 1}_0"}),
    "codex": lambda n: ("Bash", {"command": WORK[n]}, {"tool_use_id": f"call_{n + 1}_0"}),
    "copilot": lambda n: ("Bash", BASH[n], {}),
    "gemini": lambda n: ("run_shell_command", BASH[n], {"hook_event_name": "BeforeTool"}),
    "kimi": lambda n: ("Bash", {"command": WORK[n]}, {"tool_call_id": f"call_{n + 1}_0"}),
    "opencode": lambda n: ("bash", BASH[n], {"tool_use_id": f"call_{n + 2}_0"}),
    "qwen": lambda n: (
        *("run_shell_command", {**BASH[n], "is_background": False}),
        {"tool_use_id": f"toolu_of_hooks_{n}", "tool_call_id": f"call_{n + 1}_0"},
    ),
}


class Recorded(Owner):
    """A user whose clients have conversations, from recordings that are moved to now."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        config = places(self.env).config
        (config / "mine").mkdir(parents=True, exist_ok=True)
        (config / "mine" / "pack.toml").write_text('name = "mine"\n', encoding="utf-8")
        (config / "mine" / "rules.py").write_text(DENY, encoding="utf-8")
        (config / "snell.toml").write_text('packs = ["mine"]\n', encoding="utf-8")
        for name in (".gemini", ".qwen", ".copilot", ".kimi-code", ".config/opencode"):
            (self.user_home / name).mkdir(parents=True)

    def set_up(self, client: str) -> None:
        code, _, said = self.snell("setup", client.replace("_", "-"), "--yes")
        assert code == 0, said

    def record(self, name: str, change=lambda text: text) -> None:
        """Put a recording into the home, as if it began now; `change` changes its text."""
        if name == "opencode":
            self._record_in_database(change)
            return
        source = TRANSCRIPTS / name
        texts = {path: path.read_text("utf-8") for path in sorted(source.rglob("*.jsonl"))}
        found = [_milliseconds(each) for text in texts.values() for each in ISO.findall(text)]
        began = min(found or [int(each) for text in texts.values() for each in EPOCH.findall(text)])
        later = int(time.time() * 1000) - began
        for path, text in texts.items():
            to = self.user_home / f".{path.relative_to(source)}"
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_text(change(moved(text, later)), encoding="utf-8")

    def _record_in_database(self, change) -> None:
        path = self.user_home / ".local/share/opencode/opencode.db"
        path.parent.mkdir(parents=True)
        database = apsw.Connection(str(path))
        database.execute("CREATE TABLE session (id, parent_id, directory, version, time_created)")
        database.execute("CREATE TABLE message (id, session_id, time_created, data)")
        database.execute("CREATE TABLE part (id, session_id, time_created, data)")
        session, now = SESSIONS["opencode"][1], int(time.time() * 1000)
        database.execute("INSERT INTO session VALUES (?, NULL, '/home/dev/project', '1.18.33', ?)", (session, now))
        database.execute("INSERT INTO message VALUES ('m1', ?, ?, '{\"role\":\"user\"}')", (session, now))
        for n, given in enumerate(BASH):
            ended = {"start": now + n, "end": now + n + 1}
            state = {
                "status": "error" if "precious" in given["command"] else "completed",
                "input": given,
                "time": ended,
            }
            data = {"type": "tool", "tool": "bash", "callID": f"call_{n + 2}_0", "state": state}
            text = change(json.dumps(data, separators=(",", ":")))
            database.execute("INSERT INTO part VALUES (?, ?, ?, ?)", (f"p{n}", session, now + n, text))
        database.close()

    def report_calls(self, client: str, *places_: int, name: str = "PreToolUse", **more: object) -> None:
        """Send hooks the events of these calls, as the client does."""
        for place in places_:
            tool, given, own = FORMS[client](place)
            event = {"hook_event_name": name, "tool_name": tool, "tool_input": given, **own}
            self.report(client, {**event, **more})

    def report(self, client: str, *payloads: dict) -> None:
        for payload in payloads:
            self.answer(client, {"session_id": SESSIONS[client][1], "cwd": str(self.project), **payload})

    def answer(self, client: str, payload: dict) -> str:
        """What hooks answer to an event of this client."""
        with Runtime.for_user(self.env, places(self.env)) as runtime:
            reply = runtime.handle(client_named(client), json.dumps(payload).encode(), f"{time.time_ns()}")
        return str(reply)

    def coverage(self, *words: str) -> tuple[int, dict]:
        """The exit code, and the report about the first client."""
        code, out, said = self.snell("coverage", "--json", *words)
        assert code in (0, 1), said
        return code, json.loads(out)["clients"][0]


def results(report: dict) -> list[str]:
    return [each["result"] for each in report["calls"]]


def _milliseconds(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp() * 1000)


def first_time(text: str) -> str:
    """Return the first time in a recording of Claude Code or Codex."""
    return text.split('"timestamp":"')[1].partition('"')[0]


def moved(text: str, later: int) -> str:
    """Return a recording with all its times later by so many milliseconds."""

    def iso(found: re.Match[str]) -> str:
        moved = datetime.fromtimestamp((_milliseconds(found[0]) + later) / 1000, UTC)
        return moved.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"

    return EPOCH.sub(lambda found: str(int(found[0]) + later), ISO.sub(iso, text))
