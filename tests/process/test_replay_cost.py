"""A replayed event takes no more processor time than the live decision about it, with a margin of a half."""

import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest

from snell.clients import client_named
from snell.runtime.app import Runtime
from snell.system.paths import places
from tests.process.recorded_conversations import Recorded

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(600)]
COMMANDS = (
    *("git status -s dir{0}", "ls -la src{0}", "pytest tests/unit/test_{0}.py -q", "cat page{0}.md | head -20"),
    *("grep -rn name{0} src | wc -l", "rm -rf build{0}", "cd api && make test{0}", "sed -i s/a{0}/b/ file.txt"),
)
EVENTS, ROUNDS, LIMIT = 800, 3, 1.5


class Costs:
    def __init__(self, home: Recorded) -> None:
        self.home, self.number = home, 0

    def decide(self, events: int) -> float:
        """Decide new events as the daemon does; returns the seconds of processor time."""
        client = client_named("claude_code")
        with Runtime.for_user(self.home.env, places(self.home.env)) as runtime:
            for _ in range(50):  # until what is loaded once is loaded
                runtime.handle(client, self._payload(), f"key-{self.number}")
            began = time.process_time()
            for _ in range(events):
                runtime.handle(client, self._payload(), f"key-{self.number}")
            return time.process_time() - began

    def replay(self) -> tuple[float, int]:
        """Decide all recorded events again; returns the seconds of processor time of all processes, and the number."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        words = [sys.executable, "-m", "snell", "replay", "--json"]
        ran = subprocess.run(words, env=self.home.env, cwd=self.home.project, capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return seconds, json.loads(ran.stdout)["events"]

    def _payload(self) -> bytes:
        self.number += 1
        command = COMMANDS[self.number % len(COMMANDS)].format(self.number)
        fields = {
            "session_id": f"s{self.number // 200}",
            "tool_use_id": f"t{self.number}",
            "cwd": str(self.home.project),
        }
        event = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": command}}
        return json.dumps({**event, **fields}).encode()


def test_a_replayed_event_costs_at_most_one_and_a_half_live_decisions(tmp_path: Path):
    home = Recorded(tmp_path)
    (places(home.env).config / "snell.toml").write_text("", encoding="utf-8")
    costs = Costs(home)
    costs.decide(EVENTS)
    first = costs.replay()
    live = [costs.decide(EVENTS) / EVENTS]
    between = costs.replay()
    live += [costs.decide(EVENTS) / EVENTS for _ in range(ROUNDS - 1)]
    last = costs.replay()
    assert last[1] > between[1] > first[1]
    replayed = (last[0] - first[0]) / (last[1] - first[1])
    assert replayed <= LIMIT * sum(live) / len(live), (replayed, live)
