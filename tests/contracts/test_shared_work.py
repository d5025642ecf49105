"""Two machines, each with a daemon of its own, that share their work through a real PostgreSQL."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import pytest

from snell.store.postgres import PostgresDatabase
from snell.work import agents, efforts, sessions
from tests.delaying_proxy import DelayingProxy
from tests.fork_server import run_snell
from tests.postgres_server import TestDatabase
from tests.process.machine import HOOK, Machine
from tests.waiting import wait_until

pytestmark = pytest.mark.process

BOUND = 60.0
LEFT = {"summary": "the lexer is written", "lastAction": "a", "nextSteps": ["the parser"], "requiredFiles": []}
SETTINGS = 'packs = ["pack"]\n[pack.sessions]\nheartbeat = 100000\n'


class Desk(Machine):
    """A machine whose user works in a project that others have as well."""

    def __init__(self, folder: Path, name: str, project: Path, address: str = "") -> None:
        (folder / name).mkdir()
        super().__init__(folder / name)
        self.project = project
        self.write("snell.toml", (f'database = "{address}"\n' if address else "") + SETTINGS)

    def snell(self, *words: str, given: Any = None, agent: str = "") -> Any:
        code, out, err = run_snell(
            *words,
            "--json",
            given=json.dumps(given).encode() if given else b"",
            env=self.env(**({"AGENT_ID": agent} if agent else {})),
            cwd=self.project,
            timeout=BOUND,
        )
        assert code == 0, err
        return json.loads(out)

    def fire(self, event: str, window: str, agent: str = "", **fields: Any) -> str:
        """What the model is told with this event."""
        given = {"hook_event_name": event, "session_id": window, "transcript_path": f"/t/{window}", **fields}
        code, out, err = self.hook(given, **({"AGENT_ID": agent} if agent else {}))
        assert (code, err) == (0, "")
        said = json.loads(out).get("hookSpecificOutput", {}) if out else {}
        return said.get("additionalContext", "")

    def efforts(self) -> list[dict[str, Any]]:
        return self.snell("effort", "list")

    def server_status(self) -> dict[str, Any]:
        return self.status()["database"]

    def trouble(self) -> str:
        return self.server_status()["problem"]


@pytest.fixture
def server(postgres: TestDatabase) -> Iterator[PostgresDatabase]:
    """The schema that daemons use, empty."""
    if not HOOK.exists():
        pytest.skip("snell-hook is not installed beside this Python")
    database = PostgresDatabase(postgres.address)
    database.run(lambda tx: tx.do("DROP SCHEMA snell CASCADE"))
    database.close()
    yield database
    database.close()


@pytest.fixture
def desk(tmp_path: Path, postgres: TestDatabase, server: PostgresDatabase) -> Iterator[Callable[..., Desk]]:
    made: list[Desk] = []
    project = tmp_path / "project"
    project.mkdir()

    def make(name: str, address: str | None = None) -> Desk:
        made.append(Desk(tmp_path, name, project, postgres.address if address is None else address))
        return made[-1]

    yield make
    for each in made:
        each.stop()


def test_an_effort_goes_on_at_another_machine_that_knows_what_was_done(
    desk: Callable[..., Desk], server: PostgresDatabase
):
    one, two = desk("one"), desk("two")
    begun = one.snell("effort", "start", "parser", "implement")
    one.fire("SessionStart", "w1", source="startup")
    one.snell("phase", "1: Plan")
    (seen,) = two.efforts()
    assert (seen["skill"], seen["ordinal"], seen["taskId"]) == ("implement", 1, begun["effort"]["taskId"])
    assert seen["host"]
    assert two.fire("SessionStart", "w2", source="startup") == ""
    one.snell("session", "dehydrate", given=LEFT)
    again = two.snell("effort", "start", "parser", "implement")
    assert (again["resumed"], again["effort"]["currentPhase"]) == (True, "1: Plan")
    told = two.fire("SessionStart", "w3", source="startup")
    assert all(text in told for text in ("the lexer is written", "- the parser", "phase 1: Plan"))
    second = one.snell("effort", "start", "parser", "review")["effort"]
    third = two.snell("effort", "start", "parser", "test")["effort"]
    assert [again["effort"]["ordinal"], second["ordinal"], third["ordinal"]] == [1, 2, 3]
    chain = server.run(sessions.list_)
    assert [each["endReason"] for each in chain if each["clientSessionId"]] == ["dehydrated", None]
    two.snell("effort", "finish", str(again["effort"]["id"]))
    wait_until(lambda: one.snell("effort", "show", str(begun["effort"]["id"]))["lifecycle"] == "finished", BOUND)


def test_a_clone_in_another_place_goes_on_with_the_same_effort(desk: Callable[..., Desk], tmp_path: Path):
    one, two = desk("one"), desk("two")
    for each, folder in ((one, tmp_path / "here/app"), (two, tmp_path / "there/clone")):
        folder.mkdir(parents=True)
        subprocess.run(["git", "init", "-q", folder], check=True)
        subprocess.run(["git", "-C", folder, "remote", "add", "origin", "git@example.org:acme/app.git"], check=True)
        each.project = folder
    one.snell("effort", "start", "parser", "implement")
    one.fire("SessionStart", "w1", source="startup")
    one.snell("session", "dehydrate", given=LEFT)
    again = two.snell("effort", "start", "parser", "implement")
    assert (again["resumed"], again["effort"]["taskId"]) == (True, f"{tmp_path}/there/clone/.tasks/parser")
    assert "the lexer is written" in two.fire("SessionStart", "w2", source="startup")


def test_efforts_that_begin_at_the_same_time_never_have_the_same_ordinal(
    desk: Callable[..., Desk], server: PostgresDatabase
):
    desks = [desk("one"), desk("two")]
    for each in desks:
        each.efforts()
    running = [
        subprocess.Popen(
            [sys.executable, "-m", "snell", "effort", "start", "parser", f"skill-{number}-{name}"],
            env=each.env(),
            cwd=each.project,
            stdout=subprocess.DEVNULL,
        )
        for number in range(3)
        for name, each in enumerate(desks)
    ]
    assert [process.wait(BOUND) for process in running] == [0] * 6

    def known() -> list[list[tuple[int, str]]]:
        return [sorted((row["ordinal"], row["skill"]) for row in each.efforts()) for each in desks]

    wait_until(lambda: [len(rows) for rows in known()] == [6, 6] and known()[0] == known()[1], BOUND)
    assert [ordinal for ordinal, _ in known()[0]] == [1, 2, 3, 4, 5, 6]
    there = sorted((row["ordinal"], row["skill"]) for row in server.run(efforts.list_))
    assert there == known()[0]


def test_an_agent_has_its_effort_where_its_lease_is_and_nowhere_else(
    desk: Callable[..., Desk], server: PostgresDatabase
):
    one, two = desk("one"), desk("two")
    one.snell("effort", "start", "parser", "implement", agent="ann")
    assert "skill implement" in one.fire("SessionStart", "w1", "ann", source="startup")

    def leased() -> list[Any]:
        return [row["effortId"] for row in server.run(agents.list_) if row["holder"]]

    wait_until(lambda: leased() and leased()[0] is not None, BOUND)
    two.efforts()
    wait_until(lambda: [row["id"] for row in two.snell("agent", "list")] == ["ann"], BOUND)
    assert two.fire("SessionStart", "w2", "ann", source="startup") == ""
    one.snell("session", "dehydrate", given=LEFT, agent="ann")
    one.stop()  # it lets go of the lease
    wait_until(lambda: "the lexer is written" in two.fire("SessionStart", "w3", "ann", source="startup"), BOUND)


def test_nothing_is_lost_while_the_server_is_away_in_the_middle_of_work(
    desk: Callable[..., Desk], postgres: TestDatabase, server: PostgresDatabase
):
    one, two = desk("one"), desk("two")
    one.snell("effort", "start", "parser", "implement")
    one.fire("SessionStart", "w1", source="startup")
    (seen,) = two.efforts()
    postgres.stop()
    try:
        wait_until(lambda: all("not shared" in each.trouble() for each in (one, two)), BOUND)
        began = time.monotonic()
        one.snell("phase", "1: Plan")
        one.snell("effort", "log", "while it was away")
        review = two.snell("effort", "start", "parser", "review")["effort"]
        assert review["ordinal"] == 2
        for number in range(20):
            one.fire("PreToolUse", "w1", tool_use_id=f"away-{number}")
        ours = one.snell("session", "list")
        (window,) = [each["id"] for each in ours if each["clientSessionId"] == "w1"]
        one.snell("session", "dehydrate", "--session", str(window), given=LEFT)
        assert one.snell("effort", "start", "parser", "test")["effort"]["ordinal"] == 2
        assert time.monotonic() - began < BOUND
        assert one.server_status()["work"] > 0
    finally:
        postgres.start()

    def all_there() -> bool:
        return all(each.server_status()["work"] == 0 and not each.server_status()["problem"] for each in (one, two))

    wait_until(all_there, BOUND)
    wait_until(lambda: len(one.efforts()) == len(two.efforts()) == 3, BOUND)
    assert {(row["ordinal"], row["skill"]) for row in one.efforts()} == {
        (row["ordinal"], row["skill"]) for row in two.efforts()
    }
    assert sorted(row["ordinal"] for row in server.run(efforts.list_)) == [1, 2, 3]
    assert two.snell("effort", "show", str(seen["id"]))["currentPhase"] == "1: Plan"
    two.snell("effort", "finish", str(review["id"]))
    two.snell("effort", "resume", str(seen["id"]))
    assert "the lexer is written" in two.fire("SessionStart", "w9", source="startup")
    ended = [row for row in server.run(sessions.list_) if row["clientSessionId"] == "w1"]
    assert [(row["heartbeatCounter"] > 0, row["endReason"]) for row in ended] == [(True, "dehydrated")]


def test_an_answer_takes_no_longer_with_a_server_that_is_far_away(
    desk: Callable[..., Desk], postgres: TestDatabase, server: PostgresDatabase, figure: Callable[..., None]
):
    with DelayingProxy(f"{postgres.folder}/.s.PGSQL.5432", 0.05) as proxy:
        plain, far = (
            desk("plain", ""),
            desk("far", f"host=127.0.0.1 port={proxy.port} user=postgres dbname={postgres.name}"),
        )
        for each in (plain, far):
            each.snell("effort", "start", "parser", "implement")
            each.fire("SessionStart", "w1", source="startup")
        groups = [_group(plain, far, number) for number in range(8)]
        wait_until(lambda: [row["skill"] for row in server.run(efforts.list_)] == ["implement"], BOUND)
    ratios = sorted(there / here for here, there in groups)
    figure(
        figure="answer with a server 50 ms away / without one",
        ratio=round(median(ratios), 3),
        best=round(ratios[0], 3),
        us_plain=round(median(here for here, _ in groups) * 1e6),
        us_far=round(median(there for _, there in groups) * 1e6),
    )
    assert ratios[0] <= 1.15


def _group(plain: Desk, far: Desk, group: int) -> tuple[float, float]:
    """The time that a quarter of fifty answers each stay below, taken in turns: what neighbours do is above it."""
    times: tuple[list[float], list[float]] = ([], [])
    for number in range(50):
        turns = ((plain, times[0]), (far, times[1]))
        for each, taken in turns if number % 2 else reversed(turns):
            frame = each.frame({"session_id": "w1", "transcript_path": "/t/w1", "tool_use_id": f"{group}-{number}"})
            began = time.perf_counter()
            each.send_bytes(frame)
            taken.append(time.perf_counter() - began)
    return quantiles(times[0], n=4)[0], quantiles(times[1], n=4)[0]
