"""`snell coverage` says what it could not read of damaged, odd and foreign records, and reads the rest."""

import random
import re
from pathlib import Path

import apsw
import pytest

from tests.process.recorded_conversations import SESSIONS, Recorded
from tests.seeds import draw_seed

CLIENTS = tuple(SESSIONS)
CLAUDE = ".claude/projects/-home-dev-project/e4252ad2-43da-469a-b583-5d13e5652915.jsonl"


@pytest.fixture
def home(tmp_path: Path) -> Recorded:
    return Recorded(tmp_path)


@pytest.mark.parametrize("client", [each for each in CLIENTS if each != "opencode"])
def test_a_damaged_record_stops_nothing(home: Recorded, client: str):
    draw = random.Random(draw_seed())

    def damage(text: str) -> str:
        for _ in range(12):
            place = draw.randrange(len(text))
            text = text[:place] + draw.choice(["", '"', "}", "[1]", "null", "\n", "\\ud800", "\0"]) + text[place + 3 :]
        return text + '\n[]\n"text"\n{"type":"assistant","message":7}\n{"payload":[],"data":3,"event":"x"}\n{"type":'

    home.set_up(client)
    home.record(client, damage)
    home.coverage("--client", client)


DEEP = "[" * 5_000 + "]" * 5_000


@pytest.mark.parametrize("damage", [b'"\xff\xfe', DEEP.encode(), b"{"])
@pytest.mark.parametrize("client", [each for each in CLIENTS if each != "opencode"])
def test_a_call_that_cannot_be_read_is_said_and_not_left_out(home: Recorded, client: str, damage: bytes):
    home.set_up(client)
    home.record(client)
    home.report_calls(client, 0, 1, 2)
    [path] = [each for each in home.user_home.rglob("*.jsonl") if b"echo harmless" in each.read_bytes()]
    path.write_bytes(path.read_bytes().replace(b'"echo harmless', damage + b'"echo harmless'))
    report = home.coverage("--client", client)[1]
    assert any(f"`{path}` too long, damaged or of an unknown form: not compared" in each for each in report["remarks"])


@pytest.mark.parametrize("time", ["1e300", "99999999999999999999", '"0001-01-01T00:00:00"', "-5", "null", '"soon"'])
def test_a_call_without_a_time_is_unknown(home: Recorded, time: str):
    home.set_up("claude-code")
    home.record("claude_code", lambda text: re.sub(r'"timestamp": ?"[^"]*"', f'"timestamp":{time}', text))
    code, out, said = home.snell("coverage", "--client", "claude-code")
    assert (code, said) == (0, "")
    assert "2 unknown: the record does not say when it was" in out


def test_calls_without_a_number_are_counted_one_by_one(home: Recorded):
    home.set_up("claude-code")
    home.record("claude_code", lambda text: re.sub(r'"(?:id|tool_use_id)": ?"toolu_[^"]*",?', "", text))
    assert len(home.coverage("--client", "claude-code")[1]["calls"]) == 3


@pytest.mark.parametrize(
    "change",
    [
        'UPDATE part SET data = replace(data, \'"end":\', \'"end":"x","other":\')',
        "UPDATE part SET data = CAST(data AS BLOB)",
        "UPDATE part SET data = CAST(x'ff' || data AS TEXT)",
        'UPDATE part SET data = replace(data, \'"state":\', \'"state":[],"other":\')',
        "UPDATE part SET time_created = 'soon'",
        "UPDATE session SET directory = NULL, version = 7",
    ],
)
def test_a_damaged_database_stops_nothing(home: Recorded, change: str):
    home.set_up("opencode")
    home.record("opencode")
    database = apsw.Connection(str(home.user_home / ".local/share/opencode/opencode.db"))
    database.execute(change)
    database.close()
    code, out, said = home.snell("coverage", "--client", "opencode")
    assert (code in (0, 1), said) == (True, ""), out


def test_a_link_is_not_followed_and_another_database_is_reported(home: Recorded, tmp_path: Path):
    home.set_up("claude-code")
    home.record("claude_code")
    path = home.user_home / CLAUDE
    path.rename(tmp_path / "elsewhere.jsonl")
    path.symlink_to(tmp_path / "elsewhere.jsonl")
    report = home.coverage("--client", "claude-code")[1]
    assert report["calls"] == []
    assert report["remarks"] == [f"`{path}` is a link, or not a file of this user: not compared"]
    other = home.user_home / ".local/share/opencode/opencode.db"
    other.parent.mkdir(parents=True)
    other.write_bytes(b"not a database")
    assert "not compared" in home.coverage("--client", "opencode")[1]["remarks"][0]
