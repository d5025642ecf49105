"""What is stored and what is not: signals, quality, duplicates and the inbox, from the command line and the socket."""

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from tests.process.desk import Desk
from tests.process.machine import Machine
from tests.unit.memory.nothing_cases import NOTHING_HELD_OUT
from tests.unit.memory.signal_cases import HELD_OUT, sentences
from tests.waiting import wait_until

pytest_plugins = ("tests.process.machine_fixtures",)
GOOD = "We decided to use PostgreSQL for billing because SQLite locks under load, see `src/store.py`"
LATER = (
    "invoices refunds reports exports yearly statements customers move together accounts printers warehouses couriers"
    " shops queues dashboards alerts nightly summaries telephone mail chat channels shared calendars holiday rules"
)
SECRET = "ghp_" + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"
FIX = "The fix was to raise the limit in `nginx.conf` because uploads failed"


@pytest.fixture
def desk(machine: Machine) -> Desk:
    return Desk(machine)


def entry(desk: Desk, content: str, **fields: Any) -> bytes:
    given = {"version": 1, "content": content, "source_hook": "Stop", "timestamp": "2026-01-01T00:00:00Z"}
    return json.dumps({**given, "project": str(desk.project), "signal_tier": 1, **fields}).encode()


def deliver(desk: Desk, name: str, data: bytes, folder: str = "new", age: float = 0) -> Path:
    """Put a file into the inbox as a hook leaves it, `age` seconds ago."""
    path = desk.machine.home / "state/memory" / folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    os.utime(path, (time.time() - age,) * 2)
    return path


@pytest.mark.proves("S4-45", "S4-57", "S4-58", "S4-59", "S4-60", "S4-61", "S4-63", "S4-99")
def test_texts_are_classified_into_three_tiers_by_what_they_state(desk: Desk):
    def classify(texts: list[str]) -> list[dict[str, Any]]:
        rows = "".join(json.dumps({"id": str(number), "text": text}) + "\n" for number, text in enumerate(texts))
        out = desk.machine.snell("check", "signal", "--jsonl", given=rows.encode())
        return [json.loads(line) for line in out.splitlines()]

    labelled = sentences(HELD_OUT)
    found = classify([text for _, text in labelled])
    missed = [kind for (kind, _), row in zip(labelled, found, strict=True) if kind not in row["types"]]
    assert len(missed) <= 0.05 * len(labelled)
    kinds = {"decision", "important", "solution", "error", "explicit", "pattern"}
    assert kinds | {"definition", "convention", "workaround", "configuration"} <= {kind for kind, _ in labelled}
    for row in found:
        expected = 1 if row["score"] >= 0.8 else 2 if row["score"] >= 0.5 else 3
        assert row["tier"] == expected
    assert {row["tier"] for row in found if row["types"]} == {1, 2}
    taken = [row for row in classify(list(NOTHING_HELD_OUT)) if row["tier"] < 3]
    assert len(taken) <= 0.03 * len(NOTHING_HELD_OUT)


@pytest.mark.proves("S4-50", "S4-79", "S4-80", "S4-81", "S4-82")
def test_everything_remembered_passes_the_checks_for_quality_and_duplicates(desk: Desk):
    def remember(content: str, *words: str) -> dict[str, Any]:
        code, out, _ = desk.snell("memory", "remember", content, *words, "--json")
        assert code in (0, 1)
        return dict(json.loads(out))

    first = remember(GOOD, "--importance", "0.9")
    assert (first["status"], first["importance"]) == ("stored", 0.9)
    assert remember(f"  {GOOD.upper()}\n")["status"] == "rejected_exact"
    again = remember(GOOD.replace("We decided", "So we decided") + "!")
    assert (again["status"], again["similarity"] >= 0.85) == ("rejected_similar", True)
    assert remember("ok")["status"] == "rejected_quality"
    poor = remember("the user likes tabs more than spaces here", "--importance", "0.9")
    assert (poor["status"], 0.3 <= poor["quality"] < 0.5, poor["importance"] < 0.9) == ("stored", True, True)
    words = LATER.split()
    for number in range(4, len(words), 2):  # ever less like it
        near = remember(f"{GOOD} {' '.join(words[:number])}")
        expected = "rejected_similar" if near["similarity"] >= 0.85 else "potential_duplicate"
        if near["similarity"] < 0.80:
            break
        assert near["status"] == expected
    assert (expected, near["status"]) == ("potential_duplicate", "stored")
    assert desk.snell("memory", "stats", "--json").json["memories"] == 3
    # A signal weighs 0.3: a text that was asked for has 0.95 of it; length, structure and richness have the rest.
    assert first["quality"] == pytest.approx(0.3 * 0.95 + 0.2 + 0.25, abs=0.2)


@pytest.mark.proves("S4-11", "S4-78", "S4-83", "S4-84", "S4-117")
def test_the_inbox_is_taken_in_by_a_recall_a_remember_and_the_timer_through_the_same_checks(desk: Desk):
    assert desk.snell("memory", "remember", FIX).returncode == 0  # without an inbox
    deliver(desk, "1.json", entry(desk, GOOD))
    deliver(desk, "2.json", entry(desk, f" {FIX.upper()} "))
    deliver(desk, "3.json", entry(desk, "ok"))
    deliver(desk, "4.json", entry(desk, f"{GOOD.replace('We decided', 'So we decided')}!"))
    found = desk.snell("memory", "recall", "which database is for billing", "--json").json["memories"]
    assert GOOD in [each["content"] for each in found]
    state = desk.machine.home / "state/memory"
    # A recall takes in what it can in a short time; on a busy machine the next one continues.
    wait_until(lambda: not os.listdir(state / "new") or desk.snell("memory", "recall", "billing").returncode)
    assert desk.snell("memory", "stats", "--json").json["memories"] == 2
    assert (sorted(os.listdir(state / "processed")), os.listdir(state / "new")) == (
        [f"{n}.json" for n in range(1, 5)],
        [],
    )
    deliver(desk, "4b.json", entry(desk, GOOD))  # taken up again after a crash
    other = "The login cookie is called `sid_v2`, because `sid` was taken"
    assert desk.snell("memory", "remember", other).returncode == 0
    assert (os.listdir(state / "new"), desk.snell("memory", "stats", "--json").json["memories"]) == ([], 3)
    more = "The convention is that every test is named after what it shows, see `tests/`"
    desk.machine.write("snell.toml", "[pack.remember]\nenabled = true\ncapture = false\n")  # what waits came otherwise
    deliver(desk, "5.json", entry(desk, more))
    desk.machine.hook()  # a daemon; its timer takes in what waits, without a request
    wait_until(lambda: not os.listdir(state / "new"))
    assert desk.snell("memory", "stats", "--json").json["memories"] == 4
    kept = "We decided to keep the monolith for another year, because of the team"
    deliver(desk, "6.json", entry(desk, f"{kept}, and its token was {SECRET}"))
    answer = desk.data("memory.recall", query="monolith")
    assert "stored" in json.dumps(answer.get("notices", answer))
    stored = "\n".join(text for (text,) in desk.rows("SELECT content FROM memories"))
    assert (kept in stored, SECRET in stored) == (True, False)
    deliver(desk, "7.json", entry(desk, "We decided to name the queue after its team, because it was hard to find"))
    desk.machine.stop()  # long before its timer is due again
    assert (os.listdir(state / "new"), desk.snell("memory", "stats", "--json").json["memories"]) == ([], 6)


@pytest.mark.proves("S4-85", "S4-86")
def test_a_broken_item_is_set_aside_and_old_things_go(desk: Desk):
    day = 86_400
    broken = deliver(desk, "0.json", b'{"version": 1, "content": "ha')
    (broken.parent / "0-link.json").symlink_to("/etc/passwd")
    deliver(desk, "1.json", entry(desk, GOOD))
    deliver(desk, "old.json", b"x", "processed", 7.1 * day)
    deliver(desk, "kept.json", b"x", "processed", 6.9 * day)
    deliver(desk, "whole.json", entry(desk, FIX), "tmp", 301)
    deliver(desk, "half.json", b'{"version": 1', "tmp", 3_601)
    deliver(desk, "young.json", b'{"version": 1', "tmp", 10)
    desk.machine.hook()  # the daemon takes in the inbox and tidies it when it starts
    state = desk.machine.home / "state/memory"
    wait_until(lambda: "whole.json" in [*os.listdir(state / "new"), *os.listdir(state / "processed")])
    wait_until(lambda: "old.json" not in os.listdir(state / "processed"))
    assert "kept.json" in os.listdir(state / "processed")
    assert os.listdir(state / "tmp") == ["young.json"]
    for _ in range(3):
        desk.snell("memory", "drain")
    wait_until(lambda: len(os.listdir(state / "quarantine")) == 2)
    assert os.listdir(state / "new") == []
    assert desk.snell("memory", "stats", "--json").json["memories"] == 2
    desk.machine.stop()
    assert "the oldest" not in desk.snell("memory", "health", "--json").stdout
    deliver(desk, "9.json", b'{"version": 1, "content": "ha', age=25 * 3_600)
    health = desk.snell("memory", "health", "--json")
    assert (health.returncode, json.loads(health.stdout)["status"]) == (1, "degraded")
    assert "memory: 1 captures wait in" in health.stdout
    assert "the oldest for 25 hours" in health.stdout
