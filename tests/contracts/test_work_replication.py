"""Work over two machines and a real PostgreSQL, one exchange at a time."""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from snell.store.postgres import PostgresDatabase
from snell.store.replication.work import SharedWork
from snell.store.sqlite import SqliteDatabase
from snell.work import agents, artefacts, effort_commands, efforts, messages, phases, sessions, shared_names, tasks

pytestmark = pytest.mark.process


class Host:
    def __init__(self, folder: Path, name: str, server: PostgresDatabase) -> None:
        self.local = SqliteDatabase(folder / f"{name}.db")
        self.server = server
        self.share = SharedWork(self.local, server, name)

    def do(self, function: Callable[..., Any], *given: Any, **named: Any) -> Any:
        return self.local.run(lambda tx: function(tx, *given, **named))

    def meet(self) -> None:
        self.share.exchange()

    def start(self, cwd: Path, task: str, skill: str, agent: str = "") -> Any:
        return self.do(effort_commands.start_effort, str(cwd), agent, task, skill)

    def waits(self) -> int:
        return self.share.count_waiting()


@pytest.fixture
def hosts(tmp_path: Path, on_postgres: Callable[[str], PostgresDatabase]) -> Iterator[tuple[Host, Host]]:
    one, two = (Host(tmp_path, name, on_postgres("work")) for name in ("one", "two"))
    yield one, two
    for host in (one, two):
        host.local.close()
        host.server.close()


def shown(host: Host) -> list[tuple[Any, ...]]:
    found = host.do(efforts.list_)
    return [(each["taskId"], each["ordinal"], each["skill"], each["lifecycle"], each["currentPhase"]) for each in found]


def test_everything_about_an_effort_is_known_on_the_other_machine(hosts: tuple[Host, Host], tmp_path: Path):
    one, two = hosts
    begun = one.start(tmp_path, "Parser", "implement")
    one.do(phases.change, begun["effort"]["id"], "1: Plan", {"plan": "there"})
    one.do(messages.append, begun["session"]["id"], "user", "hello")
    later = one.do(sessions.start, begun["effort"]["id"], "w2")
    one.do(sessions.finish, later["id"], {"summary": "half done"}, "dehydrated")
    one.meet()
    two.meet()
    assert shown(two) == shown(one) == [(f"{tmp_path}/.tasks/parser", 1, "implement", "active", "1: Plan")]
    (effort,) = two.do(efforts.list_)
    chain = two.do(sessions.list_, effort["id"])
    assert [(each["clientSessionId"], each["endReason"], each["host"]) for each in chain] == [
        (None, "replaced", "one"),
        ("w2", "dehydrated", "one"),
    ]
    assert chain[1]["prevSessionId"] == chain[0]["id"]
    assert chain[1]["dehydrationPayload"] == {"summary": "half done"}
    assert [each["content"] for each in two.do(messages.list_, chain[0]["id"])] == ["hello"]
    assert [each["proof"] for each in two.do(phases.history, effort["id"])] == [{"plan": "there"}]
    assert (one.waits(), two.waits()) == (0, 0)


def test_no_agent_is_given_another_machines_effort_unasked_and_one_that_asks_goes_on_with_it(
    hosts: tuple[Host, Host], tmp_path: Path
):
    one, two = hosts
    begun = one.start(tmp_path, "Parser", "implement")
    one.meet()
    two.meet()
    project = two.do(tasks.list_)[0]["projectId"]
    assert two.do(efforts.find_active, project) is None
    again = two.start(tmp_path, "Parser", "implement")
    assert (again["resumed"], again["effort"]["ordinal"]) == (True, 1)
    assert again["session"]["prevSessionId"] is not None
    assert two.do(efforts.find_active, project)["id"] == again["effort"]["id"]
    two.meet()
    one.meet()
    ended = one.do(sessions.get, begun["session"]["id"])
    assert (ended["endReason"], ended["endedAt"] is not None) == ("replaced", True)
    assert one.do(efforts.get, begun["effort"]["id"])["host"] == "two"
    assert one.do(efforts.find_active, begun["task"]["projectId"]) is None


def test_ordinals_that_were_given_twice_while_apart_are_given_anew_and_the_files_follow(
    hosts: tuple[Host, Host], tmp_path: Path
):
    one, two = hosts
    first = one.start(tmp_path, "Parser", "implement")["effort"]
    second = two.start(tmp_path, "Parser", "review")["effort"]
    third = two.start(tmp_path, "Parser", "test")["effort"]
    assert [first["ordinal"], second["ordinal"], third["ordinal"]] == [1, 1, 2]
    for effort in (first, second, third):
        artefacts.append(artefacts.path_of(effort, "LOG"), effort["skill"])
    one.meet()
    two.meet()
    one.meet()
    assert sorted(shown(one)) == sorted(shown(two))
    assert sorted((row[2], row[1]) for row in shown(one)) == [("implement", 1), ("review", 3), ("test", 2)]
    files = {path.name: path.read_text("utf-8").strip() for path in (tmp_path / ".tasks/parser").iterdir()}
    assert files == {"1_IMPLEMENT_LOG.md": "implement", "3_REVIEW_LOG.md": "review", "2_TEST_LOG.md": "test"}


def test_changes_of_one_effort_on_both_sides_are_joined(hosts: tuple[Host, Host], tmp_path: Path):
    one, two = hosts
    id_ = one.start(tmp_path, "Parser", "implement")["effort"]["id"]
    one.do(efforts.update_metadata, id_, {"a": 1, "b": 1})
    one.meet()
    two.meet()
    (there,) = two.do(efforts.list_)
    one.do(efforts.update_metadata, id_, {"a": None, "c": 3})
    two.do(phases.change, there["id"], "1: Plan")
    two.do(efforts.update_metadata, there["id"], {"b": 2})
    one.meet()
    two.meet()
    one.meet()
    for host, effort in ((one, id_), (two, there["id"])):
        found = host.do(efforts.get, effort)
        assert (found["metadata"], found["currentPhase"]) == ({"b": 2, "c": 3}, "1: Plan")
    two.do(efforts.finish, there["id"])
    one.do(phases.change, id_, "2: Build")
    one.meet()
    two.meet()
    one.meet()
    assert [row[3:] for row in (*shown(one), *shown(two))] == [("finished", "2: Build")] * 2


def test_a_repository_is_the_same_project_wherever_it_is_checked_out(hosts: tuple[Host, Host], tmp_path: Path):
    one, two = hosts
    here, there = tmp_path / "here", tmp_path / "over/there"
    for folder in (here, there):
        folder.mkdir(parents=True)
        subprocess.run(["git", "init", "-q", folder], check=True)
        subprocess.run(["git", "-C", folder, "remote", "add", "origin", "git@example.org:acme/app.git"], check=True)
    one.start(here, "Parser", "implement", "ann")
    one.meet()
    two.meet()
    assert [row[0] for row in shown(two)] == ["example.org/acme/app/.tasks/parser"]
    from snell.memory.project_identity import shared_name

    (there / "src").mkdir()
    two.do(shared_names.adopt_checkout, str(there / "src"), shared_name)
    again = two.start(there / "src", "Parser", "implement")
    assert (again["resumed"], again["effort"]["taskId"]) == (True, f"{there}/.tasks/parser")
    two.meet()
    one.meet()
    assert [row[0] for row in shown(one)] == [f"{here}/.tasks/parser"]
    assert one.do(efforts.list_)[0]["host"] == "two"
    assert [each["id"] for each in one.do(agents.list_)] == ["ann"]


def test_two_projects_at_the_same_path_are_not_taken_for_one(hosts: tuple[Host, Host], tmp_path: Path):
    one, two = hosts
    begun = one.start(tmp_path, "Parser", "implement")
    one.meet()
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    subprocess.run(["git", "-C", tmp_path, "remote", "add", "origin", "git@example.org:acme/app.git"], check=True)
    two.start(tmp_path, "Parser", "implement")
    two.meet()
    one.meet()
    here = begun["effort"]["taskId"]
    assert [row[:2] for row in shown(two)] == [(here, 1), (f"elsewhere:{here}", 1)]
    assert [row[:2] for row in shown(one)] == [(here, 1), ("example.org/acme/app/.tasks/parser", 1)]


def test_a_server_that_was_emptied_or_replaced_gets_everything_again(
    hosts: tuple[Host, Host], tmp_path: Path, on_postgres: Callable[[str], PostgresDatabase]
):
    one, _ = hosts
    one.start(tmp_path, "Parser", "implement")
    one.meet()
    other = on_postgres("elsewhere")
    SharedWork(one.local, other, "one").exchange()
    assert [(each["skill"], each["host"]) for each in other.run(efforts.list_)] == [("implement", "one")]
    other.close()


def test_a_server_that_was_put_back_to_an_earlier_state_gets_what_it_lost(hosts: tuple[Host, Host], tmp_path: Path):
    one, _ = hosts
    one.start(tmp_path, "Parser", "implement")
    one.meet()
    one.server.run(lambda tx: tx.do("DELETE FROM efforts"))
    one.start(tmp_path, "Parser", "review")
    one.meet()
    assert sorted(each["skill"] for each in one.server.run(efforts.list_)) == ["implement", "review"]


def test_rows_that_the_server_cannot_hold_do_not_keep_the_others_back(hosts: tuple[Host, Host], tmp_path: Path):
    one, two = hosts
    session = one.start(tmp_path, "Parser", "implement")["session"]["id"]
    one.do(messages.append, session, "user", "a\0b")
    one.do(messages.append, session, "user", "c", timestamp=2**62)
    one.local.run(lambda tx: tx.do("UPDATE sessions SET pid = ?", 2**40))
    one.meet()
    two.meet()
    assert len(shown(two)) == 1
    assert (one.share.link.refused, one.waits()) == (3, 0)


def test_many_rows_travel_in_parts(hosts: tuple[Host, Host], tmp_path: Path):
    one, two = hosts
    begun = one.start(tmp_path, "Parser", "implement")
    for number in range(120):
        one.do(sessions.start, begun["effort"]["id"], f"w{number}")

    def many(tx: Any) -> None:
        for number in range(900):
            messages.append(tx, begun["session"]["id"], "user", f"message {number}")

    one.local.run(many)
    one.meet()
    two.meet()
    chain = two.do(sessions.list_)
    assert len(chain) == 121
    assert [each["prevSessionId"] for each in chain] == [None, *(each["id"] for each in chain[:-1])]
    assert len(two.do(messages.list_, chain[0]["id"])) == 900
    assert (one.waits(), two.waits()) == (0, 0)
